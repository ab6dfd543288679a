import { type DeadLetterDocument, deterministicId, HEADERS } from '@backstop/contracts'
import type { DeliveryProgress } from '../../store/delivery-store.ts'

/** A message of `deliveries.dead`. */
export interface Letter {
  readonly partition: number
  readonly offset: bigint
  readonly key: string
  readonly value: Buffer | null
  readonly headers: Readonly<Record<string, string>>
  /** When it was parked, in milliseconds since the epoch. */
  readonly timestampMs: number
}

/**
 * A parked message as it is kept, so that people find it and can send it again. Its id follows from where it lay first: the
 * letter that dies again is the same one.
 */
export function deadLetterDocument(letter: Letter): DeadLetterDocument {
  const { [HEADERS.errorCode]: code, [HEADERS.errorMessage]: reason, ...headers } = letter.headers
  const topic = headers[HEADERS.originalTopic] ?? 'deliveries.dead'
  const partition = headers[HEADERS.originalPartition] ?? String(letter.partition)
  const offset = headers[HEADERS.originalOffset] ?? String(letter.offset)
  return {
    _id: deterministicId('deadLetter', topic, partition, offset),
    topic,
    key: letter.key,
    value: letter.value?.toString('base64') ?? null,
    headers,
    reason_code: code ?? 'internal',
    reason: reason ?? 'No reason was given',
    parked_at: new Date(letter.timestampMs),
  }
}

/** What becomes of a message that was parked. */
export type LetterFate =
  | { kind: 'keep'; reason: 'no_delivery_on_record' | 'its_delivery_goes_on' }
  /** The list of deliveries shows it, with its attempts. */
  | { kind: 'let_go'; reason: 'its_delivery_ended' }
  /** Its delivery waits for what will not come: it is to end, where people see it and can send it again. */
  | { kind: 'end_delivery'; reason: 'message_unusable'; attempt: number }

/** By how much the clocks of who asked for an attempt and of who parked its message may differ, in milliseconds. */
const CLOCKS_MAY_DIFFER_MS = 10_000

/**
 * @param letter the attempt that the message asked for, 0 where it does not say, and when it was parked
 * @param progress what is recorded of the delivery that it names; undefined: nothing, or it names none
 */
export function decideLetter(
  letter: { readonly attempt: number; readonly parkedAtMs: number },
  progress: DeliveryProgress | undefined,
): LetterFate {
  if (progress === undefined) return { kind: 'keep', reason: 'no_delivery_on_record' }
  const { next } = progress
  // One that ended says so before its letter is written.
  if (next === null) return { kind: 'let_go', reason: 'its_delivery_ended' }
  // Of an attempt that is over, or from before a person asked for this one: what the delivery waits for may well come.
  const isOfNext = letter.attempt >= next.attempt && next.dueAtMs <= letter.parkedAtMs + CLOCKS_MAY_DIFFER_MS
  return isOfNext
    ? { kind: 'end_delivery', reason: 'message_unusable', attempt: next.attempt }
    : { kind: 'keep', reason: 'its_delivery_goes_on' }
}

/** What a delivery says of itself that ended so. The error may tell more than whoever reads deliveries is to know: it is logged. */
export function unusableText(errorCode: string | undefined): string {
  return `Its message could not be used (${errorCode ?? 'internal'}), see the log of the notifier; send it again once the cause is fixed`
}
