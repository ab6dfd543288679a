import { z } from 'zod'

/** The three kinds of billing provider: card processor, reseller, subscription biller. */
export const ProviderKind = z.enum(['processor', 'reseller', 'subscription'])
export type ProviderKind = z.infer<typeof ProviderKind>

/**
 * Whether an unexplained change alerts. auto: once an operation of the connection has executed. alert: always. ignore:
 * never.
 */
export const OutOfBand = z.enum(['auto', 'alert', 'ignore'])
export type OutOfBand = z.infer<typeof OutOfBand>

/** What an action or an operation does: it returns money, or ends a subscription. */
export const ActionKind = z.enum(['refund', 'cancellation'])
export type ActionKind = z.infer<typeof ActionKind>

/**
 * What is recorded of a provider: the two kinds that are judged, and kinds that are recorded and not judged
 * (docs/decisions).
 */
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
