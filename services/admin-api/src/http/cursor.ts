/**
 * Cursors of lists: the position after the last item shown, signed. A cursor is accepted only for the list, project and filters that it was
 * made for, so a position that this API did not choose never reaches a query. Every replica accepts it while its key is in SECRET_KEYS.
 */
import { hash } from 'node:crypto'
import type { SecretBox } from '@backstop/kit/secret-box'
import { z } from 'zod'
import { refusedField } from './refused-field.ts'

/** Position in a list after the last item shown: the date that the list is sorted by, and the id. */
export interface ListPosition {
  readonly at: Date
  readonly id: string
}

/** A date in a cursor: whole milliseconds since the epoch. */
export const CursorDate = z.codec(z.int(), z.date(), { decode: ms => new Date(ms), encode: date => date.getTime() })

/** The content of the cursors of lists that are sorted by a date. */
export const PositionCursor = z.strictObject({ at: CursorDate, id: z.string() })

/** The cursors of one list, with the filters of one request. */
export interface ListCursors {
  /** Makes the cursor of a position. Its format is not part of the API. */
  sign<S extends z.ZodType>(schema: S, position: z.output<S>): string
  /**
   * The position of a cursor; undefined without a cursor.
   * @throws AppError `invalid_request` if this list did not make the cursor for the same filters
   */
  verify<S extends z.ZodType>(schema: S, cursor: string | undefined): z.output<S> | undefined
}

/** What a request asks a list for. Fields that are undefined are the same as missing ones. */
export interface ListedRequest {
  /** The operation id of the list. */
  readonly list: string
  readonly projectId: string | undefined
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

/** Fields that may change from page to page. */
const CHANGEABLE = new Set(['cursor', 'limit', 'format'])

/** Creates the cursors for a request of a list. */
export function createListCursors(secretBox: Pick<SecretBox, 'sign' | 'verify'>, request: ListedRequest): ListCursors {
  // Most requests use no cursor.
  const purposeOf = () => `cursor ${hash('sha256', JSON.stringify(request, filtersOnly), 'base64url')}`
  return {
    sign: (schema, position) => secretBox.sign(purposeOf(), JSON.stringify(schema.encode(position))),
    verify(schema, cursor) {
      if (cursor === undefined) return undefined
      const text = secretBox.verify(purposeOf(), cursor)
      // After an update, a cursor may have the content of the previous release.
      const position = text === undefined ? undefined : schema.safeDecode(JSON.parse(text))
      if (position?.success) return position.data
      throw refusedCursor()
    },
  }
}

/** The error for a cursor that this list did not make for the filters of the request. */
export function refusedCursor() {
  return refusedField(
    'query.cursor',
    'Use next_cursor of the previous page unchanged and with the same filters, or leave it out to get the first page',
  )
}

/** A replacer for JSON.stringify: leaves out what may change from page to page, and sorts the fields of objects. */
function filtersOnly(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const fields = Object.entries(value).filter(([name]) => !CHANGEABLE.has(name))
  return Object.fromEntries(fields.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/**
 * Builds a page of a list with the cursor of the next page.
 * @param found up to limit + 1 documents; the extra document only shows that there is a next page
 * @param signPlace makes the cursor after an item
 */
export function buildPage<D, S>(
  found: readonly D[],
  limit: number,
  signPlace: (item: D) => string,
  show: (item: D) => S,
): { data: S[]; next_cursor: string | null } {
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const isMore = found.length > limit && last !== undefined
  return { data: shown.map(show), next_cursor: isMore ? signPlace(last) : null }
}
