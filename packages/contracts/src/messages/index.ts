import type { z } from 'zod'
import { Operation } from '../actions/operation.ts'
import { Incident } from '../actions/verdict.ts'
import type { TopicName } from '../topics.ts'
import { Alert } from './alert.ts'
import { Command } from './command.ts'
import { DeliveryRequest } from './delivery.ts'
import { InboundEvent } from './inbound.ts'
import { Recheck } from './recheck.ts'
import { Readback, Reread } from './reread.ts'

/**
 * Every message type and the topics that carry it. Each type is one subject of the schema registry, `<name>-value`, and each
 * topic carries one type. Dead-letter topics carry the original bytes, so they have no type.
 */
export const MESSAGES = {
  'inbound-event': { schema: InboundEvent, topics: ['inbound.processor', 'inbound.reseller', 'inbound.subscription'] },
  operation: { schema: Operation, topics: ['operations'] },
  recheck: { schema: Recheck, topics: ['rechecks', 'rechecks.due', 'rechecks.unanswered'] },
  reread: { schema: Reread, topics: ['rereads', 'rereads.retry'] },
  readback: { schema: Readback, topics: ['readbacks'] },
  command: { schema: Command, topics: ['commands'] },
  incident: { schema: Incident, topics: ['incidents'] },
  alert: { schema: Alert, topics: ['alerts'] },
  'delivery-request': {
    schema: DeliveryRequest,
    topics: [
      'deliveries',
      'deliveries.retry.5s',
      'deliveries.retry.1m',
      'deliveries.retry.10m',
      'deliveries.retry.1h',
      'deliveries.retry.6h',
    ],
  },
} as const satisfies Record<string, { schema: z.ZodType; topics: readonly TopicName[] }>

/** The name of a message type. */
export type MessageName = keyof typeof MESSAGES
/** A message of the type with that name. */
export type MessageOf<N extends MessageName> = z.infer<(typeof MESSAGES)[N]['schema']>
export { Alert, AlertEvent, type Names } from './alert.ts'
export { ChannelIncidentEnd, Command, type CommandKind, SuppressionReason } from './command.ts'
export { DeliveryRequest } from './delivery.ts'
export { InboundEvent } from './inbound.ts'
export { Recheck } from './recheck.ts'
export { HintingEvent, Readback, ReadObject, ReadReason, ReadTarget, Reread, WaitingLook } from './reread.ts'
