import { z } from 'zod'
import { ActionMode } from '../actions/action-details.ts'
import { Currency, Timestamp } from '../actions/operation.ts'

/** The answer of GET /v1/projects/{id}/unresolved. */
export const Unresolved = z.object({
  open: z.int().describe('Open incidents'),
  acknowledged: z.int().describe('Acknowledged incidents'),
  since: Timestamp.nullable().describe('When the oldest of these incidents opened; null if there is none'),
  money: z
    .array(
      z.object({
        currency: Currency,
        mode: ActionMode,
        amount: z.int().describe('The sum in minor units'),
        count: z.int().describe('The refunds in the sum'),
      }),
    )
    .describe(
      'The unexplained refunds of these incidents, without those that moved no money in the end. Live money first',
    ),
  being_checked: z
    .int()
    .describe('Refunds and cancellations that nothing explains so far, and whose second look is not done'),
  approvals_pending: z.int().describe('Operations that wait for an approval'),
})
export type Unresolved = z.infer<typeof Unresolved>
