import { type DeliveryRequest, deterministicId, HEADERS, type TopicName } from '@backstop/contracts'
import { deadLetter, type IncomingMessage, type MessageCodec, type OutgoingMessage } from '@backstop/kit'
import { decidePostponement } from './rules/next-attempt.ts'

type Headers = Readonly<Record<string, string>>

/** What travels with a delivery from the notification on: the trace, and when the notification came in. */
const CARRIED = [HEADERS.traceparent, HEADERS.receivedAt] as const

/** Asks for an attempt at once. The key is the channel: all its attempts happen in one place. */
export function deliveryMessage(codec: MessageCodec, request: DeliveryRequest, carried: Headers): OutgoingMessage {
  return message('deliveries', codec, request, carried, {})
}

/** Asks for an attempt because somebody wants it. @param atOnce whether not even a pause of its channel is waited for */
export function requeuedMessage(codec: MessageCodec, request: DeliveryRequest, atOnce: boolean): OutgoingMessage {
  return message('deliveries', codec, request, {}, atOnce ? { [HEADERS.atOnce]: '1' } : {})
}

/** Asks for an attempt when the delay line lets it go. */
export function delayedMessage(
  codec: MessageCodec,
  request: DeliveryRequest,
  carried: Headers,
  due: { topic: string; atMs: number },
): OutgoingMessage {
  return message(due.topic as TopicName, codec, request, carried, { [HEADERS.dueAt]: String(due.atMs) })
}

/**
 * The same attempt once more, later and without counting one: its channel has too much waiting, or is left alone.
 * @param waitMs in how long its turn may come at the earliest
 */
export function postponedMessage(
  codec: MessageCodec,
  request: DeliveryRequest,
  carried: Headers,
  nowMs: number,
  waitMs: number,
): OutgoingMessage {
  const rung = decidePostponement(waitMs)
  return delayedMessage(codec, request, carried, { topic: rung.topic, atMs: nowMs + rung.delayMs })
}

/** As it came from a delay line, to one once more: a flood to a dead endpoint does this by the thousand. */
export function postponedAgain(
  { key, value, headers }: IncomingMessage,
  nowMs: number,
  waitMs: number,
): OutgoingMessage {
  const { topic, delayMs } = decidePostponement(waitMs)
  return { topic, key, value, headers: { ...headers, [HEADERS.dueAt]: String(nowMs + delayMs) } }
}

/** A delivery that ended without success, as it came, with the reason. */
export function deadDelivery(original: IncomingMessage, reasonCode: string, reason: string): OutgoingMessage {
  const letter = deadLetter(original, 'deliveries.dead', new Error(reason))
  return { ...letter, headers: { ...letter.headers, [HEADERS.errorCode]: reasonCode } }
}

function message(
  topic: TopicName,
  codec: MessageCodec,
  request: DeliveryRequest,
  carried: Headers,
  own: Headers,
): OutgoingMessage {
  const headers: Record<string, string> = {
    [HEADERS.messageId]: deterministicId('message', request.delivery_id, String(request.attempt)),
    [HEADERS.deliveryId]: request.delivery_id,
    [HEADERS.attempt]: String(request.attempt),
    ...own,
  }
  for (const name of CARRIED) if (carried[name] !== undefined) headers[name] = carried[name]
  return { topic, key: request.channel_id, value: codec.encode('delivery-request', request), headers }
}
