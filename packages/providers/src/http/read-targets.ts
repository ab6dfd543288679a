import type { ReadObject, ReadTarget } from '@backstop/contracts'
import type { ReadResult } from '../read-back.ts'
import type { ApiClient, Budget } from './api-client.ts'
import { type Failed, failed } from './failure.ts'

/** What asking for one target gave. */
export type Found =
  | { readonly kind: 'found'; readonly objects: readonly ReadObject[] }
  /** Not there, or not all of it: what is there already counts when the rest does not come. */
  | { readonly kind: 'missing'; readonly objects?: readonly ReadObject[] }
  | Failed

/**
 * Waits before what was not found is asked for again, in milliseconds: an event may be here before the copy that answers
 * reads has its object.
 */
const ASK_AGAIN_AFTER_MS = [500, 1_500, 3_000]

/**
 * Asks for every target, and again for those that are not found. One failure fails all: a verdict on a part of the answer
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
      // Two targets may lead to the same object, e.g. a credit note to the refund that is asked for as well.
      for (const object of answer.objects ?? []) objects.set(keyOf(object), object)
    }
    missing = missing.filter((_, index) => answers[index]?.kind === 'missing')
    const waitMs = ASK_AGAIN_AFTER_MS[round]
    if (missing.length === 0 || waitMs === undefined) break
    if (!(await client.wait(waitMs, budget))) {
      // Once is not enough to say that something does not exist.
      if (round === 0) return failed('unreachable', client.dialect.name, 'no time to ask for what was not found again')
      break
    }
  }
  return objects.size === 0 ? { kind: 'not_found' } : { kind: 'read', objects: [...objects.values()] }
}

function keyOf({ type, body, fault }: ReadObject): string {
  // Unusable items may have no id, or the same one.
  return fault === undefined ? `${type} ${String(body.id)}` : `${type} ${JSON.stringify(body)}`
}
