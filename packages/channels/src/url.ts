import { z } from 'zod'

/** Where a channel leads; what is allowed is for the guarded client to say. */
export const Url = z.string().min(1).max(2048)
