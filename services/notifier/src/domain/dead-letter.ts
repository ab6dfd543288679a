import { type DeadLetterDocument, deterministicId, HEADERS } from '@backstop/contracts'

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
