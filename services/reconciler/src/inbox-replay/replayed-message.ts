import {
  deterministicId,
  HEADERS,
  ID_PREFIXES,
  INBOUND_TOPICS,
  type InboundEvent,
  isoTime,
  partitionKey,
} from '@backstop/contracts'
import type { OutgoingMessage } from '@backstop/kit/bus'
import { PROVIDERS } from '@backstop/providers'
import type { InboxEntry } from '../inbox/inbox-store.ts'

/** What a replay does with an entry of the inbox. */
export type ReplayDecision =
  | { readonly kind: 'send'; readonly event: InboundEvent }
  /** body_erased: the body is not kept any more. not_a_notification: the entry is an object of a provider's answer. */
  | { readonly kind: 'skip'; readonly reason: 'body_erased' | 'not_a_notification' }

/** Decides whether an entry of the inbox can be sent through the decision again. */
export function decideReplay({ document, body }: InboxEntry): ReplayDecision {
  const { provider, project_id, connection_id, event_id, event_type, received_at } = document
  if (event_id.startsWith(`${ID_PREFIXES.deadLetter}_`)) return { kind: 'skip', reason: 'not_a_notification' }
  if (body === null) return { kind: 'skip', reason: 'body_erased' }
  const facts = { provider, project_id, connection_id, event_id, event_type }
  return { kind: 'send', event: { ...facts, received_at: isoTime(received_at.getTime()), body: JSON.parse(body) } }
}

/**
 * The message of a replayed event. It has the key of the original message, so that events of one payment keep their
 * order, and the header by which the reconciler decides it although it is done.
 */
export function replayedMessage(
  event: InboundEvent,
  replayId: string,
  encode: (event: InboundEvent) => Buffer,
): OutgoingMessage {
  const { provider, project_id, connection_id, event_id, event_type, received_at, body } = event
  const identified = PROVIDERS[provider].identify(body)
  const subject = identified.kind === 'identified' ? identified.subject : null
  return {
    topic: INBOUND_TOPICS[provider],
    key: partitionKey(project_id, subject ?? event_id),
    value: encode(event),
    headers: {
      [HEADERS.messageId]: deterministicId('message', 'replay', replayId, connection_id, event_id),
      [HEADERS.eventId]: event_id,
      [HEADERS.eventType]: event_type,
      [HEADERS.receivedAt]: String(Date.parse(received_at)),
      [HEADERS.replayId]: replayId,
    },
  }
}
