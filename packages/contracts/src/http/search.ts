import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { Cursor, IdFilter } from './list.ts'

export const SearchText = z.string().trim().min(2, 'Give at least 2 characters').max(255)

/** The query of GET /v1/search. */
export const SearchQuery = z.object({
  project_id: IdFilter.optional().describe('Required if the key works for every project'),
  q: SearchText.describe(
    'An id of Backstop, or the beginning of an id of a provider, a name, an e-mail address, an amount, an idempotency key or a run',
  ),
  limit: z.coerce.number().int().min(1).max(50).default(20).describe('The largest number of results'),
  cursor: Cursor.optional().describe('`next_cursor` of the previous page'),
})

/** One result of a search. */
export const SearchResult = z.object({
  type: z.enum(['action', 'incident', 'delivery', 'connection', 'channel', 'operation', 'run']),
  id: z.string(),
  title: z.string().describe('One line for people to read'),
  project_id: z.string(),
  connection_id: z.string().nullable(),
  at: Timestamp.nullable().describe('When it was first recorded'),
})
export type SearchResult = z.infer<typeof SearchResult>

/** The answer of GET /v1/search. */
export const SearchResults = z.object({ data: z.array(SearchResult), next_cursor: z.string().nullable() })
