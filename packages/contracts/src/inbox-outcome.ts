import { z } from 'zod'

/**
 * What became of a notification. held: a hint of a connection that cannot be read yet. hinted: the provider is asked. parked:
 * it could not be used, and lies on `inbound.dead` with the reason.
 */
export const InboxOutcome = z.enum(['recorded', 'ignored', 'held', 'hinted', 'parked'])
export type InboxOutcome = z.infer<typeof InboxOutcome>
