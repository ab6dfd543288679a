import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { ProviderKind } from '../providers.ts'

/** An object to read from the provider, by the provider's type name and id. */
export const ReadTarget = z.object({
  type: z.enum([
    'refund',
    /** Every refund of one charge or payment intent. */
    'refunds_of_payment',
    'adjustment',
    /** Every adjustment of one transaction. */
    'adjustments_of_transaction',
    'transaction',
    'credit_note',
    /** Every refund transaction of one subscription or customer invoice. */
    'refunds_of_subscription',
    'subscription',
    /** Only the card processor: the id is that of a subscription schedule. It and the subscription that it manages are read. */
    'subscription_schedule',
    /** An event that was sent. It says by whom its object was made, which the object does not (subscription, processor). */
    'event',
  ]),
  id: z.string(),
  /** The connected account that has the object, as the notification names it. Absent for the account of the key (processor). */
  account: z.string().optional(),
})
export type ReadTarget = z.infer<typeof ReadTarget>

/** Why the provider is read. hint: a notification of which only the ids are used: a biller's, or a thin one of the processor. */
export const ReadReason = z.enum(['hint', 'second_look', 'settlement', 'missing_check', 'sweep', 'baseline'])
export type ReadReason = z.infer<typeof ReadReason>

/** The second look that waits for the answer, identified as in its recheck message. */
export const WaitingLook = z.object({ ref: z.string(), look_id: z.string(), due_at: Timestamp })
export type WaitingLook = z.infer<typeof WaitingLook>

/** The notification that caused the re-read. */
export const HintingEvent = z.object({ event_id: z.string(), event_type: z.string(), received_at: Timestamp })

const common = {
  project_id: z.string(),
  connection_id: z.string(),
  provider: ProviderKind,
  reason: ReadReason,
  event: HintingEvent.nullable(),
  look: WaitingLook.nullable(),
}

/** The request to read objects through one connection, within the provider's rate limit. A repeat is harmless. */
export const Reread = z.object({
  ...common,
  /** Derived from the targets and the reason, so that a repeat is the same request. */
  reread_id: z.string(),
  targets: z.array(ReadTarget).min(1),
  /** When the re-read was first requested. Notifications that are not verified within 15 minutes open VERIFICATION_UNAVAILABLE. */
  first_requested_at: Timestamp,
  /** The number of the attempt, from 1. */
  attempt: z.int().min(1),
  /** From this time on, the second look is judged without an answer. If absent, it always waits for the answer. */
  answer_by: Timestamp.optional(),
})
export type Reread = z.infer<typeof Reread>

/** An object as the provider's API answered it. It is normalised like the object in an event. */
export const ReadObject = z.object({
  type: z.string(),
  body: z.record(z.string(), z.unknown()),
  /** Why the object cannot be used, e.g. because it has no usable id. The object is dead-lettered with this reason. */
  fault: z.string().optional(),
  /** Whether the object is live or test data, if the key shows it and the object does not (reseller). */
  mode: z.enum(['live', 'test']).optional(),
  /** The connected account from which the object was read, as its target names it. */
  account: z.string().optional(),
})
export type ReadObject = z.infer<typeof ReadObject>

/** The result of a re-read, a sweep or a baseline. It is decided on by the same rules as a signed event. */
export const Readback = z.object({
  ...common,
  readback_id: z.string(),
  read_at: Timestamp,
  /**
   * read: `objects` are the provider's current objects. not_found: the provider has none of the targets. unavailable: the provider could
   * not be asked, for the reason in `failure`.
   */
  outcome: z.enum(['read', 'not_found', 'unavailable']),
  failure: z.string().nullable(),
  targets: z.array(ReadTarget),
  objects: z.array(ReadObject),
})
export type Readback = z.infer<typeof Readback>
