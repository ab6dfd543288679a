import { z } from 'zod'

/**
 * The outcome of a notification. held: stored until the connection's provider can be read. hinted: the provider was asked for the object.
 * parked: it could not be used and was dead-lettered to `inbound.dead` with the reason.
 */
export const InboxOutcome = z.enum(['recorded', 'ignored', 'held', 'hinted', 'parked'])
export type InboxOutcome = z.infer<typeof InboxOutcome>
