import { idempotencyReference, type Origin } from '@backstop/contracts'
import type { SightingContext } from '../../object-fields.ts'

/** The inputs of normalisation besides the object, most of them from its event. */
export interface ProcessorContext extends SightingContext {
  /** The idempotency key of the request that caused the event. Null if there is none, and for objects that were read. */
  readonly idempotencyKey: string | null
  /** The id of the request that caused the event. Null if there is none, and for objects that were read. */
  readonly requestId: string | null
  /** Who sent the request. Only a thin event that was read may say it. */
  readonly client?: Partial<Origin>
  /** The time when the object changed into this state. Null for objects that were read or listed. */
  readonly changedAt: number | null
  /** The cause of the event: a request, or the processor itself. Null if unknown, and for objects that were read. */
  readonly by: 'request' | 'itself' | null
  /** True for live mode, false for test mode. Null if the event does not say it, and for objects that were read. */
  readonly livemode: boolean | null
  /** The id of the event's account, if that is connected to the platform which receives the event; otherwise null. */
  readonly account: string | null
  /** The values before the change; null if unknown. */
  readonly previous: Readonly<Record<string, unknown>> | null
}

/** Adds the reference of the request's idempotency key, which matches operations that were reported with only their key. */
export function withKey(context: ProcessorContext, refs: readonly string[]): readonly string[] {
  const key = context.idempotencyKey
  return key === null ? refs : [...refs, idempotencyReference(context.projectId, 'processor', key)]
}
