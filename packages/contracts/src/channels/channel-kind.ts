import { z } from 'zod'

/** Every kind of channel. */
export const ChannelKind = z.enum([
  // The names are stored with each channel and each delivery, so they must not be renamed.
  'slack',
  'email',
  'webhook',
  'pagerduty',
  'teams',
  'discord',
])
export type ChannelKind = z.infer<typeof ChannelKind>
