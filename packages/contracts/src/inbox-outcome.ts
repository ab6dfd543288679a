import { z } from 'zod'

/**
 * The outcome of a notification. held: a hint of a connection that cannot be read yet. hinted: the provider is asked.
 * parked: it could not be used and was dead-lettered to `inbound.dead` with the reason.
 */
export const InboxOutcome = z.enum(['recorded', 'ignored', 'held', 'hinted', 'parked'])
export type InboxOutcome = z.infer<typeof InboxOutcome>
