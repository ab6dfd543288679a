import { z } from 'zod'

/** The answer of every list: newest first, with an opaque cursor to the next page or null. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), next_cursor: z.string().nullable() })
}

/** A query parameter that is true or false. */
export const BooleanFilter = z.enum(['true', 'false']).transform(text => text === 'true')

/** A time in a query. */
export const TimeFilter = z.iso.datetime({ offset: true })

/** An amount in a query, in minor units. */
export const AmountFilter = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

/** `next_cursor` of the previous page. The length is that of the longest id, signed. */
export const Cursor = z.string().max(4_096)

/** An id in a query. Ids of providers have up to 255 code points, and JSON Schema counts those too. */
export const IdFilter = z
  .string()
  .refine(id => id.length <= 255 || [...id].length <= 255, 'Give at most 255 characters')
  .meta({ maxLength: 255 })

/** The query parameters of every list. */
export const ListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('The largest number of items'),
  cursor: Cursor.optional().describe('`next_cursor` of the previous page'),
})
