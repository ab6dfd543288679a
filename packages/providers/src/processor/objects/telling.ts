import { idempotencyReference } from '@backstop/contracts'
import type { Telling } from '../../object-fields.ts'

/** What an event of the processor says around its object. */
export interface ProcessorTelling extends Telling {
  /** The key of the request that the event tells of; null without one, and for what was read. */
  readonly idempotencyKey: string | null
  /** The request that the event tells of; null without one, and for what was read. */
  readonly requestId: string | null
  /** When the object changed into what is told; null for what was read or listed, as it changed before. */
  readonly changedAt: number | null
  /** Who caused the event: a request, or the processor itself; null for what was read, and where the event does not say. */
  readonly by: 'request' | 'itself' | null
  /** The values that the change replaced; null where the event does not say. */
  readonly previous: Readonly<Record<string, unknown>> | null
}

/** References with that of the request's key, by which an operation that knows only its key is found. */
export function withKey(telling: ProcessorTelling, refs: readonly string[]): readonly string[] {
  const key = telling.idempotencyKey
  return key === null ? refs : [...refs, idempotencyReference(telling.projectId, 'processor', key)]
}
