import { refusedField } from './refused-field.ts'

/** Where a list goes on: the date it is sorted by and the id, of the last item that was shown. */
export interface Place {
  readonly at: Date
  readonly id: string
}

/** A cursor is opaque to callers: nothing of its form is promised. */
export function encodeCursor(place: Place): string {
  return Buffer.from(JSON.stringify([place.at.getTime(), place.id])).toString('base64url')
}

/** @throws AppError `invalid_request` when it is no cursor of ours */
export function decodeCursor(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined
  try {
    const [at, id, ...rest] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    const place = { at: new Date(at), id }
    // Numbers beyond the last date there is give no date.
    const isDate = Number.isSafeInteger(at) && !Number.isNaN(place.at.getTime())
    if (isDate && typeof id === 'string' && rest.length === 0) return place
  } catch {
    // Falls through: whatever is wrong with it, the remedy is the same.
  }
  throw refusedField(
    'query.cursor',
    'Use next_cursor of the previous page unchanged, or leave it out to get the first page',
  )
}

/**
 * A page of a list and the way to the next.
 * @param found one more than the limit, where there are so many: that one only tells that there is more
 */
export function toPage<D, S>(
  found: readonly D[],
  limit: number,
  placeOf: (item: D) => Place,
  show: (item: D) => S,
): { data: S[]; next_cursor: string | null } {
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const isMore = found.length > limit && last !== undefined
  return { data: shown.map(show), next_cursor: isMore ? encodeCursor(placeOf(last)) : null }
}
