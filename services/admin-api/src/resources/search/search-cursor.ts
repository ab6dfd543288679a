import { refusedField } from '../../http/refused-field.ts'
import type { SearchPosition } from '../../store/search-index.ts'

/** Actions are listed before operations. */
export type SearchSection = 'actions' | 'operations'

/** Where the next page begins. Without a position: at the beginning of the section. */
export interface SearchCursor {
  readonly section: SearchSection
  readonly after: SearchPosition | undefined
}

export function encodeSearchCursor({ section, after }: SearchCursor): string {
  const place = after === undefined ? [] : [after.key, after.at.getTime(), after.id]
  return Buffer.from(JSON.stringify([section, ...place])).toString('base64url')
}

/** @throws AppError `invalid_request` if the text is no cursor of a search */
export function decodeSearchCursor(text: string): SearchCursor {
  try {
    const [section, key, time, id, ...rest] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if ((section === 'actions' || section === 'operations') && rest.length === 0) {
      if (key === undefined) return { section, after: undefined }
      const at = new Date(time)
      const isPlace = typeof key === 'string' && typeof id === 'string' && Number.isSafeInteger(time)
      if (isPlace && !Number.isNaN(at.getTime())) return { section, after: { key, at, id } }
    }
  } catch {
    // Invalid JSON gets the same refusal as every other invalid cursor.
  }
  throw refusedField('query.cursor', 'Use next_cursor of the previous page unchanged, or leave it out')
}
