import {
  type DeadLetterDocument,
  deadLetterKindOf,
  deterministicId,
  eventInMessage,
  HEADERS,
  ID_PREFIXES,
  jsonInMessage,
} from '@backstop/contracts'
import type { DeliveryProgress } from '../../delivery-record/delivery-store.ts'

/** A message of a dead-letter topic. */
export interface DeadLetterMessage {
  readonly partition: number
  readonly offset: bigint
  readonly key: string
  readonly value: Buffer | null
  readonly headers: Readonly<Record<string, string>>
  /** When the message was dead-lettered, in milliseconds since the epoch. */
  readonly timestampMs: number
}

/** True for a dead-lettered notification: the reconciler lists it in the inbox with its body, so it is not stored again. */
export function isInInbox({ headers, value }: Pick<DeadLetterMessage, 'headers' | 'value'>): boolean {
  return eventInMessage({ topic: headers[HEADERS.originalTopic] ?? '', value }) !== undefined
}

/**
 * The stored form of a dead-lettered message, which a person can find and send again. Its id is derived from the
 * original topic, partition and offset, so a message that is dead-lettered twice is stored once. An object of a
 * provider's answer was no message before, and has the id under which the inbox lists it.
 */
export function deadLetterDocument(letter: DeadLetterMessage): DeadLetterDocument {
  const { [HEADERS.errorCode]: code, [HEADERS.errorMessage]: reason, ...headers } = letter.headers
  const topic = headers[HEADERS.originalTopic] ?? 'deliveries.dead'
  const partition = headers[HEADERS.originalPartition] ?? String(letter.partition)
  const offset = headers[HEADERS.originalOffset] ?? String(letter.offset)
  const messageId = headers[HEADERS.messageId]
  const isProviderObject = messageId?.startsWith(`${ID_PREFIXES.deadLetter}_`) === true
  const { project_id, operation_id } = factsIn(letter.value)
  return {
    _id: isProviderObject ? messageId : deterministicId('deadLetter', topic, partition, offset),
    kind: isProviderObject ? 'provider_object' : deadLetterKindOf(topic),
    project_id: textOrNull(project_id),
    resource_id: textOrNull(operation_id ?? headers[HEADERS.deliveryId]),
    topic,
    key: letter.key,
    value: letter.value?.toString('base64') ?? null,
    headers,
    reason_code: code ?? 'internal',
    reason: reason ?? 'No reason was given',
    parked_at: new Date(letter.timestampMs),
  }
}

/** Every message between services names its project in this field. */
function factsIn(value: Buffer | null): { readonly project_id?: unknown; readonly operation_id?: unknown } {
  const json = jsonInMessage(value)
  return typeof json === 'object' && json !== null ? json : {}
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

/** How to handle a dead-lettered message. */
export type DeadLetterDecision =
  | { kind: 'keep'; reason: 'no_delivery_on_record' | 'its_delivery_goes_on' }
  /** The list of deliveries shows the delivery with its attempts. */
  | { kind: 'discard'; reason: 'its_delivery_ended' }
  /**
   * The delivery waits for this unusable message. The delivery ends, so that a person sees it and can send it again.
   */
  | { kind: 'end_delivery'; reason: 'message_unusable'; attempt: number }

/**
 * Allowed difference between the clocks of the process that scheduled an attempt and the process that dead-lettered its
 * message, in milliseconds.
 */
const CLOCKS_MAY_DIFFER_MS = 10_000

/**
 * @param message `attempt`: the attempt number in the message, 0 if it has none
 * @param progress the recorded progress of the delivery named in the message; undefined if there is none
 */
export function decideDeadLetter(
  message: { readonly attempt: number; readonly deadLetteredAtMs: number },
  progress: DeliveryProgress | undefined,
): DeadLetterDecision {
  if (progress === undefined) return { kind: 'keep', reason: 'no_delivery_on_record' }
  const { next } = progress
  // An ended delivery is recorded before its message is dead-lettered.
  if (next === null) return { kind: 'discard', reason: 'its_delivery_ended' }
  // A message of an earlier attempt, or from before a requeue, is not the message that the delivery waits for.
  const isOfNext = message.attempt >= next.attempt && next.dueAtMs <= message.deadLetteredAtMs + CLOCKS_MAY_DIFFER_MS
  return isOfNext
    ? { kind: 'end_delivery', reason: 'message_unusable', attempt: next.attempt }
    : { kind: 'keep', reason: 'its_delivery_goes_on' }
}

/**
 * The public reason of a delivery that ended with an unusable message. The error itself may contain internal details,
 * so it is logged only.
 */
export function unusableText(errorCode: string | undefined): string {
  return `Its message could not be used (${errorCode ?? 'internal'}), see the log of the notifier; send it again once the cause is fixed`
}
