import { refusedField } from './refused-field.ts'

/** Position in a list after the last item shown: the date that the list is sorted by, and the id. */
export interface ListPosition {
  readonly at: Date
  readonly id: string
}

/** Encodes a position as a cursor. Its format is not part of the API. */
export function encodeCursor(place: ListPosition): string {
  return Buffer.from(JSON.stringify([place.at.getTime(), place.id])).toString('base64url')
}

/** @throws AppError `invalid_request` if the text is no cursor of this API */
export function decodeCursor(cursor: string | undefined): ListPosition | undefined {
  if (cursor === undefined) return undefined
  try {
    const [at, id, ...rest] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    const place = { at: new Date(at), id }
    // An integer beyond the range of Date gives an invalid date.
    const isDate = Number.isSafeInteger(at) && !Number.isNaN(place.at.getTime())
    if (isDate && typeof id === 'string' && rest.length === 0) return place
  } catch {
    // Invalid JSON gets the same refusal as every other invalid cursor.
  }
  throw refusedField(
    'query.cursor',
    'Use next_cursor of the previous page unchanged, or leave it out to get the first page',
  )
}

/**
 * Builds a page of a list with the cursor of the next page.
 * @param found up to limit + 1 documents; the extra document only shows that there is a next page
 */
export function buildPage<D, S>(
  found: readonly D[],
  limit: number,
  placeOf: (item: D) => ListPosition,
  show: (item: D) => S,
): { data: S[]; next_cursor: string | null } {
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const isMore = found.length > limit && last !== undefined
  return { data: shown.map(show), next_cursor: isMore ? encodeCursor(placeOf(last)) : null }
}
