import { z } from 'zod'
import { Timestamp } from '../operation.ts'
import { ProviderKind } from '../providers.ts'

/**
 * An authenticated notification as ingress took it in. `body` stands last, because ingress splices the provider's raw
 * bytes there without parsing and printing them again.
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
