import { z } from 'zod'
import { ERROR_CODES, type ErrorCode } from '../error-codes.ts'

/** The answer of every list: newest first, with an opaque cursor to the next page or null. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), next_cursor: z.string().nullable() })
}

/** A query parameter that is true or false. */
export const BooleanFilter = z.enum(['true', 'false']).transform(text => text === 'true')

/** A time in a query. */
export const TimeFilter = z.iso.datetime({ offset: true })

/** A day or a time in a query. */
export const DayOrTime = z.union([z.iso.date(), z.iso.datetime({ offset: true })])

/** An amount in a query, in minor units. */
export const AmountFilter = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

/** `next_cursor` of the previous page. The length is that of the longest id, signed. */
export const Cursor = z.string().max(4_096)

/** An id in a query. Ids of providers have up to 255 code points, and JSON Schema counts those too. */
export const IdFilter = z
  .string()
  .refine(id => id.length <= 255 || [...id].length <= 255, 'Give at most 255 characters')
  .meta({ maxLength: 255 })

/** A connected account in a query. */
export const AccountFilter = IdFilter.optional().describe('Only this connected account of the card processor')

/** A customer in a query. */
export const CustomerFilter = IdFilter.optional().describe(
  'Only this customer, by the id that its provider gives it. Needs `project_id`, and `connection_id` if accounts of the project give the same ids',
)

/** The query parameters of every list. */
export const ListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('The largest number of items'),
  cursor: Cursor.optional().describe('`next_cursor` of the previous page'),
})

/** The query of a list that is only limited to a project. */
export const ProjectListQuery = ListQuery.extend({ project_id: IdFilter.optional() })

/** The query of a list that is only limited to a project and a connection. */
export const ConnectionListQuery = ProjectListQuery.extend({ connection_id: IdFilter.optional() })

/** A currency code in upper or lower case, converted to lower case. */
export const CurrencyCode = z
  .string()
  .regex(/^[A-Za-z]{3}$/, 'Give the three letters of ISO 4217')
  .transform(code => code.toLowerCase())

/** An error answer: application/problem+json (RFC 9457). */
export const Problem = z.object({
  type: z.string().describe('urn:backstop:error:<code>'),
  title: z.string(),
  status: z.int(),
  code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]),
  detail: z.string().describe('What was wrong with this request, and what to do'),
  request_id: z.string().optional(),
  trace_id: z.string().optional().describe('The trace of the request, if traces are on'),
  errors: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .optional()
    .describe('Each refused field'),
  budget: z
    .object({ budget_id: z.string(), left: z.int(), currency: z.string(), period_ends_at: z.string() })
    .optional()
    .describe('budget_exceeded: the budget, and the remaining minor units'),
})
export type Problem = z.infer<typeof Problem>
