import { z } from 'zod'
import { ERROR_CODES, type ErrorCode } from '../error-codes.ts'

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
