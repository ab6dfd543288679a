import { z } from 'zod'

/** The three kinds of billing provider: card processor, reseller, subscription biller. */
export const ProviderKind = z.enum(['processor', 'reseller', 'subscription'])
export type ProviderKind = z.infer<typeof ProviderKind>

/**
 * When an unexplained change alerts. auto: after an operation of the connection was executed for the first time. alert: always. ignore:
 * never.
 */
export const OutOfBand = z.enum(['auto', 'alert', 'ignore'])
export type OutOfBand = z.infer<typeof OutOfBand>

/** The effect of an action or operation: it returns money, or ends a subscription. */
export const ActionKind = z.enum(['refund', 'cancellation'])
export type ActionKind = z.infer<typeof ActionKind>

/** The kinds of records about a provider. Refunds and cancellations get a verdict; the other kinds are only recorded (docs/decisions). */
export const RecordKind = z.enum([
  ...ActionKind.options,
  'pause',
  'resume',
  /** A scheduled cancellation or pause was removed. */
  'schedule_removal',
  'dispute',
  /** Money that stays at the provider as the customer's balance. */
  'credit',
  /** An earlier refund, credit or dispute was undone. */
  'reversal',
])
export type RecordKind = z.infer<typeof RecordKind>
