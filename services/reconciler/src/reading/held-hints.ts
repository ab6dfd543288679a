import { deterministicId, HEADERS, type InboundEvent, isoTime, type ReadTarget, type Reread } from '@backstop/contracts'
import type { OutgoingMessage, Producer } from '@backstop/kit/bus'
import type { Clock } from '@backstop/kit/clock'
import type { MessageCodec } from '@backstop/kit/registry'
import { PROVIDERS } from '@backstop/providers'
import type { KeptConnection } from '../connections/connection-reader.ts'
import type { Inbox } from '../inbox/inbox-store.ts'

export interface HeldHintsOptions {
  readonly inbox: Pick<Inbox, 'held' | 'release'>
  readonly producer: Producer
  readonly codec: Pick<MessageCodec, 'encode'>
  readonly clock: Clock
}

/** Hints that are held because their connection could not be read. */
export interface HeldHints {
  /**
   * Requests the re-read of every held hint of the connection.
   * @returns their number
   */
  request(connection: KeptConnection): Promise<number>
}

const PAGE = 500

export function createHeldHints({ inbox, producer, codec, clock }: HeldHintsOptions): HeldHints {
  return {
    async request(connection) {
      for (let count = 0; ; ) {
        const held = await inbox.held(connection._id, PAGE)
        if (held.length === 0) return count
        const messages = held.flatMap(({ document, body }) => {
          const event = { ...document, received_at: document.received_at.toISOString(), body: JSON.parse(body ?? '{}') }
          const reread = rereadOfHint(event, clock.now())
          return reread === undefined ? [] : [rereadMessage(reread, codec)]
        })
        if (messages.length > 0) await producer.send(messages)
        await inbox.release(held.map(({ document }) => document._id))
        count += held.length
      }
    },
  }
}

type EventFacts = Omit<InboundEvent, 'body'>

/** The re-read that a hint asks for; undefined if the event is not a hint. */
export function rereadOfHint(event: EventFacts & Pick<InboundEvent, 'body'>, now: number): Reread | undefined {
  const { provider, project_id, connection_id, event_id, event_type, body } = event
  const origin = { projectId: project_id, connectionId: connection_id, eventId: event_id, eventType: event_type }
  const meaning = PROVIDERS[provider].normaliseEvent(origin, body)
  return meaning.kind === 'hint' ? rereadOfTargets(event, meaning.targets, now) : undefined
}

/** The re-read that a normalised hint asks for. */
export function rereadOfTargets(event: EventFacts, targets: readonly ReadTarget[], now: number): Reread {
  const { provider, project_id, connection_id, event_id, event_type, received_at } = event
  return {
    reread_id: deterministicId('reread', connection_id, event_id),
    project_id,
    connection_id,
    provider,
    reason: 'hint',
    event: { event_id, event_type, received_at },
    look: null,
    targets: [...targets],
    first_requested_at: isoTime(now),
    attempt: 1,
  }
}

/** @param traceparent the span that sends it; undefined if there is none */
export function rereadMessage(
  reread: Reread,
  codec: Pick<MessageCodec, 'encode'>,
  traceparent?: string,
): OutgoingMessage {
  return {
    topic: 'rereads',
    key: reread.connection_id,
    value: codec.encode('reread', reread),
    headers: {
      [HEADERS.messageId]: reread.reread_id,
      ...(traceparent === undefined ? {} : { [HEADERS.traceparent]: traceparent }),
    },
  }
}
