import { z } from 'zod'

/** Every kind of channel. */
export const ChannelKind = z.enum([
  // Stored with each channel and each delivery: do not rename one.
  'slack',
  'email',
  'webhook',
])
export type ChannelKind = z.infer<typeof ChannelKind>
