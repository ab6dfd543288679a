import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { ProviderKind } from '../providers.ts'

/**
 * An authentic notification. `body` is the last field, because ingress inserts the provider's raw bytes there without
 * parsing them.
 */
export const InboundEvent = z.object({
  provider: ProviderKind,
  project_id: z.string(),
  connection_id: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  received_at: Timestamp,
  body: z.record(z.string(), z.unknown()),
})
export type InboundEvent = z.infer<typeof InboundEvent>
