import {
  type DelayLineName,
  type DeliveryRequest,
  deterministicId,
  dueAtOf,
  HEADERS,
  sendAt,
} from '@backstop/contracts'
import type { IncomingMessage, OutgoingMessage } from '@backstop/kit/bus'
import { type ConsumerMetrics, deadLetter } from '@backstop/kit/consume'
import type { MessageCodec } from '@backstop/kit/registry'
import type { AttemptKind } from '../queue/channel-queues.ts'
import { decidePostponement } from './rules/next-attempt.ts'

type Headers = Readonly<Record<string, string>>

/** Headers copied to every message of a delivery: the trace, and when the notification arrived. */
const FORWARDED_HEADERS = [HEADERS.traceparent, HEADERS.receivedAt] as const

/**
 * Requests an attempt at once. The message key is the channel id, so that all attempts of a channel run in one process.
 */
export function deliveryMessage(codec: MessageCodec, request: DeliveryRequest, carried: Headers): OutgoingMessage {
  return message(codec, request, carried, {})
}

/** Requests an attempt because a person asked for it. @param atOnce true to ignore a pause of the channel */
export function requeuedMessage(codec: MessageCodec, request: DeliveryRequest, atOnce: boolean): OutgoingMessage {
  return message(codec, request, {}, atOnce ? { [HEADERS.atOnce]: '1' } : {})
}

/** Requests an attempt at the due time of a delay line. */
export function delayedMessage(
  codec: MessageCodec,
  request: DeliveryRequest,
  carried: Headers,
  due: { topic: string; atMs: number },
): OutgoingMessage {
  return sendAt(due.topic as DelayLineName | 'deliveries', deliveryMessage(codec, request, carried), due.atMs)
}

/**
 * Requests the same attempt later, without counting one, because the channel's queue is full or the channel is paused.
 * @param waitMs earliest time until the attempt, in milliseconds
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

/**
 * Sends an undecoded message from a delay line to a delay line again. A flood to an unavailable receiver does this
 * thousands of times.
 */
export function postponedAgain(
  { key, value, headers }: IncomingMessage,
  nowMs: number,
  waitMs: number,
): OutgoingMessage {
  const { topic, delayMs } = decidePostponement(waitMs)
  return sendAt(topic, { key, value, headers }, nowMs + delayMs)
}

/** A dead letter for a delivery that ended without success, with the reason. */
export function deadLetterOfDelivery(original: IncomingMessage, reasonCode: string, reason: string): OutgoingMessage {
  const letter = deadLetter(original, 'deliveries.dead', new Error(reason))
  return { ...letter, headers: { ...letter.headers, [HEADERS.errorCode]: reasonCode } }
}

/** Counts the dead letters among messages that Kafka has acknowledged. Called earlier, it would count each retry of a send. */
export function countDeadLetters(sent: readonly OutgoingMessage[], metrics: ConsumerMetrics): void {
  for (const { topic, headers } of sent) {
    if (topic === 'deliveries.dead') metrics.deadLettered('deliveries', headers[HEADERS.errorCode] ?? 'internal')
  }
}

/** What a message asks for, from its headers: a message that is postponed need not be decoded. */
export function attemptKindOf(message: IncomingMessage): AttemptKind {
  if (message.headers[HEADERS.attempt] !== '1') return 'retry'
  return dueAtOf(message) === null ? 'first' : 'held_first'
}

function message(codec: MessageCodec, request: DeliveryRequest, carried: Headers, own: Headers): OutgoingMessage {
  const headers: Record<string, string> = {
    [HEADERS.messageId]: deterministicId('message', request.delivery_id, String(request.attempt)),
    [HEADERS.deliveryId]: request.delivery_id,
    [HEADERS.attempt]: String(request.attempt),
    ...own,
  }
  for (const name of FORWARDED_HEADERS) if (carried[name] !== undefined) headers[name] = carried[name]
  return { topic: 'deliveries', key: request.channel_id, value: codec.encode('delivery-request', request), headers }
}
