import { z } from 'zod'
import { Timestamp } from '../operation.ts'
import { ProviderKind } from '../providers.ts'

/** One thing to ask the provider for, by the provider's own name of its type and its id there. */
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
    /** A subscription by the schedule that manages it, with that schedule (processor). */
    'subscription_schedule',
  ]),
  id: z.string(),
})
export type ReadTarget = z.infer<typeof ReadTarget>

/** Why the provider is asked. A hint is an event whose content is never believed (subscription). */
export const ReadReason = z.enum(['hint', 'second_look', 'settlement', 'missing_check', 'sweep', 'baseline'])
export type ReadReason = z.infer<typeof ReadReason>

/** The second look that waits for an answer: as its recheck named it. */
export const WaitingLook = z.object({ ref: z.string(), look_id: z.string(), due_at: Timestamp })
export type WaitingLook = z.infer<typeof WaitingLook>

/** The event that hinted at what is to be read. */
export const HintingEvent = z.object({ event_id: z.string(), event_type: z.string(), received_at: Timestamp })

const common = {
  project_id: z.string(),
  connection_id: z.string(),
  provider: ProviderKind,
  reason: ReadReason,
  event: HintingEvent.nullable(),
  look: WaitingLook.nullable(),
}

/** Asks for a re-read through one connection, within that provider's rate limit. Asking twice is harmless. */
export const Reread = z.object({
  ...common,
  /** Follows from what is asked and why, so that a repeat is the same request. */
  reread_id: z.string(),
  targets: z.array(ReadTarget).min(1),
  /** Of the first asking; what was not answered 15 minutes later is told as VERIFICATION_UNAVAILABLE (hints). */
  first_requested_at: Timestamp,
  /** Counts from 1. */
  attempt: z.int().min(1),
  /** When the second look is judged without an answer; left out where nothing is judged without one. */
  answer_by: Timestamp.optional(),
})
export type Reread = z.infer<typeof Reread>

/** One object of the provider as its API gave it: normalised like the object of an event, by the type's own rules. */
export const ReadObject = z.object({
  type: z.string(),
  body: z.record(z.string(), z.unknown()),
  /** Why the object cannot be used, e.g. because it has no usable id: it is dead-lettered with this reason. */
  fault: z.string().optional(),
})
export type ReadObject = z.infer<typeof ReadObject>

/** What a re-read, a sweep or the baseline found. It goes through the same decisions as a signed event. */
export const Readback = z.object({
  ...common,
  readback_id: z.string(),
  read_at: Timestamp,
  /**
   * read: `objects` is what the provider has now. not_found: it says that it knows none of the targets. unavailable: it
   * could not be asked, `failure` says why in words.
   */
  outcome: z.enum(['read', 'not_found', 'unavailable']),
  failure: z.string().nullable(),
  targets: z.array(ReadTarget),
  objects: z.array(ReadObject),
})
export type Readback = z.infer<typeof Readback>
