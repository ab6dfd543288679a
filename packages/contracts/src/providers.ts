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
