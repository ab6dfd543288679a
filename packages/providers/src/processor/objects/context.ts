import { idempotencyReference } from '@backstop/contracts'
import type { SightingContext } from '../../object-fields.ts'

/** Facts from the event of an object, beside the object. */
export interface ProcessorContext extends SightingContext {
  /** The idempotency key of the request that caused the event; null without one, and for objects that were read. */
  readonly idempotencyKey: string | null
  /** The request that caused the event; null without one, and for objects that were read. */
  readonly requestId: string | null
  /** When the object changed into this state; null for objects that were read or listed. */
  readonly changedAt: number | null
  /** Who caused the event: a request or the processor; null for objects that were read, and if unknown. */
  readonly by: 'request' | 'itself' | null
  /** The values before the change; null: unknown. */
  readonly previous: Readonly<Record<string, unknown>> | null
}

/** Adds the reference of the request's idempotency key, which matches operations that know only their key. */
export function withKey(context: ProcessorContext, refs: readonly string[]): readonly string[] {
  const key = context.idempotencyKey
  return key === null ? refs : [...refs, idempotencyReference(context.projectId, 'processor', key)]
}
