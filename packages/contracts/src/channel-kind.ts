import { z } from 'zod'

/** Every kind of channel. */
export const ChannelKind = z.enum([
  // Stored with each channel and each delivery, so a name stays for good.
  'slack',
  'email',
  'webhook',
])
export type ChannelKind = z.infer<typeof ChannelKind>
