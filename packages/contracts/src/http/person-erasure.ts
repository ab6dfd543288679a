import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'

/** The body of POST /v1/projects/{id}/person-erasures: how the customer is named. A record with either name is erased. */
export const NewPersonErasure = z
  .strictObject({
    customer_id: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe("The customer's id at the provider, as in `customer.id`"),
    email: z.email().max(254).optional().describe("The customer's e-mail address. Case does not matter"),
  })
  .refine(({ customer_id, email }) => customer_id !== undefined || email !== undefined, {
    message: 'Give customer_id, email or both',
  })

/** The erasure of the personal data of one customer, and its progress. It does not show how the customer is named. */
export const PersonErasure = z.object({
  erasure_id: z.string(),
  project_id: z.string(),
  state: z
    .enum(['requested', 'running', 'done'])
    .describe('requested: not started yet. running: it walks twice through all records, ten minutes apart'),
  erased: z
    .object({
      cases: z.int().describe('Payments and subscriptions of the customer'),
      actions: z.int().describe('Refunds and cancellations of these'),
      bodies: z.int().describe('Raw notifications, which were removed'),
      deliveries: z.int().describe('Recorded deliveries of alerts'),
    })
    .describe('Numbers of erased records so far. What a crash made the product repeat may be counted twice'),
  requested_at: Timestamp,
  finished_at: Timestamp.nullable(),
})
export type PersonErasure = z.infer<typeof PersonErasure>
