import type { ReadObject, ReadTarget } from '@backstop/contracts'
import type { ReadResult } from '../read-back.ts'
import type { ApiClient, Budget } from './api-client.ts'
import { type Failed, failed } from './failure.ts'

/** The result of reading one target. */
export type Found =
  | { readonly kind: 'found'; readonly objects: readonly ReadObject[] }
  /** The target, or a part of it, is missing. The objects that were found count if the rest stays missing. */
  | { readonly kind: 'missing'; readonly objects?: readonly ReadObject[] }
  | Failed

/**
 * Waits before another read of missing targets, in milliseconds: an event may arrive before the provider's replicas have its
 * object.
 */
const ASK_AGAIN_AFTER_MS = [500, 1_500, 3_000]

/**
 * Reads every target, and missing ones again. One failure fails the whole read, because a verdict on a part of the objects
 * would be wrong.
 */
export async function readTargets(
  client: ApiClient,
  targets: readonly ReadTarget[],
  budget: Budget,
  ask: (target: ReadTarget) => Promise<Found>,
): Promise<ReadResult> {
  const objects = new Map<string, ReadObject>()
  let missing = targets
  for (let round = 0; ; round++) {
    const answers = await Promise.all(missing.map(ask))
    for (const answer of answers) {
      if (answer.kind === 'failed') return answer
      // Two targets may have the same object, e.g. a credit note and the refund that pays it out.
      for (const object of answer.objects ?? []) objects.set(keyOf(object), object)
    }
    missing = missing.filter((_, index) => answers[index]?.kind === 'missing')
    const waitMs = ASK_AGAIN_AFTER_MS[round]
    if (missing.length === 0 || waitMs === undefined) break
    if (!(await client.wait(waitMs, budget))) {
      // One missing answer does not prove that an object does not exist.
      if (round === 0) return failed('unreachable', client.dialect.name, 'no time to ask for what was not found again')
      break
    }
  }
  return objects.size === 0 ? { kind: 'not_found' } : { kind: 'read', objects: [...objects.values()] }
}

function keyOf({ type, body, fault }: ReadObject): string {
  // Unusable items may have no id, or equal ones.
  return fault === undefined ? `${type} ${String(body.id)}` : `${type} ${JSON.stringify(body)}`
}
