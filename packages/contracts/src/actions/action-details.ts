import { z } from 'zod'

/** The way in which an action was made. */
export const OriginChannel = z.enum([
  'api',
  /** A person in the provider's dashboard. */
  'dashboard',
  /** The provider itself, e.g. at the end of a term. */
  'automatic',
  /** The customer, on a page that the provider hosts. */
  'hosted_page',
])
export type OriginChannel = z.infer<typeof OriginChannel>

/** How and by whom an action was made. A fact is null if the provider does not report it. */
export const Origin = z.object({
  channel: OriginChannel.nullable(),
  /** The name of the API key. */
  key_name: z.string().nullable(),
  /** The user of the provider's dashboard, often an e-mail address. */
  user: z.string().nullable(),
  /** The provider's id of the request. */
  request_id: z.string().nullable(),
  idempotency_key: z.string().nullable(),
})
export type Origin = z.infer<typeof Origin>

/** The customer whose payment or subscription it is. Name and e-mail address are personal data. */
export const Customer = z.object({
  id: z.string().nullable(),
  name: z.string().nullable(),
  email: z.string().nullable(),
})
export type Customer = z.infer<typeof Customer>

/** The payment or subscription in the words that people know. A fact is null if the provider does not report it. */
export const PaymentFacts = z.object({
  /** The invoice or receipt number. */
  number: z.string().nullable(),
  /** The plan or product of the subscription. */
  plan: z.string().nullable(),
  /** The provider's word for the reason of the refund or cancellation. */
  refund_reason: z.string().nullable(),
  /** Where the money goes, e.g. "card" or "visa 4242". */
  destination: z.string().nullable(),
})
export type PaymentFacts = z.infer<typeof PaymentFacts>

/** Whether an action moved real money; null if the provider does not report it. */
export const ActionMode = z.enum(['live', 'test']).nullable()
export type ActionMode = z.infer<typeof ActionMode>

/** Pages about an action. */
export const ActionLinks = z.object({
  /** In the provider's own dashboard; null if the provider has no such page. */
  provider: z.string().nullable(),
  /** In the console; null if this installation has no public address. */
  console: z.string().nullable(),
})
export type ActionLinks = z.infer<typeof ActionLinks>

/** The details of an action that help a person to act. They are optional, because older records do not have them. */
export const actionDetails = {
  origin: Origin.optional(),
  /** Who made it (GET /v1/projects/{id}/actors). Absent if the provider does not say. */
  actor_id: z.string().optional(),
  /** The name that people gave to the actor. Absent without one. */
  actor_name: z.string().optional(),
  customer: Customer.nullable().optional(),
  payment: PaymentFacts.optional(),
  mode: ActionMode.optional(),
  /** The id of the account at the provider, if it is connected to the platform whose events arrive. Otherwise absent. */
  account: z.string().optional(),
  links: ActionLinks.optional(),
}
