import { z } from 'zod'

/** The three kinds of billing provider, by the neutral names of the interface. */
export const ProviderKind = z.enum(['processor', 'reseller', 'subscription'])
export type ProviderKind = z.infer<typeof ProviderKind>

/** Whether an unexplained change on a connection alerts (interface §6, "Out-of-band detection"). */
export const OutOfBand = z.enum(['auto', 'alert', 'ignore'])
export type OutOfBand = z.infer<typeof OutOfBand>

/** What an action or an operation does: money back, or an end of a subscription. */
export const ActionKind = z.enum(['refund', 'cancellation'])
export type ActionKind = z.infer<typeof ActionKind>

/**
 * What is recorded at a provider: the two that are judged, and what is kept as what it is and judged by nobody (DESIGN,
 * "Deciding").
 */
export const RecordKind = z.enum([
  ...ActionKind.options,
  'pause',
  'resume',
  /** A cancellation or pause that was set for later was taken back. */
  'schedule_removal',
  'dispute',
  /** Money that stays with the provider as a balance of the customer. */
  'credit',
  /** An earlier refund, credit or dispute was taken back. */
  'reversal',
])
export type RecordKind = z.infer<typeof RecordKind>
