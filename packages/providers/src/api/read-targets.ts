import type { ReadObject, ReadTarget } from '@backstop/contracts'
import type { ReadResult } from '../read-back.ts'
import type { ApiClient, Budget } from './api-client.ts'
import { type Failed, failed } from './failure.ts'
import { asType, type Missing, type OneObject, type WholeList } from './objects.ts'

/** The result of reading one target. */
export type TargetResult =
  | { readonly kind: 'found'; readonly objects: readonly ReadObject[] }
  /** The target or a part of it is missing. The found objects are used if the rest stays missing. */
  | { readonly kind: 'missing'; readonly objects?: readonly ReadObject[] }
  | Failed

/** The result for a target that is one object. */
export function foundOne(type: string, answer: OneObject | Missing | Failed): TargetResult {
  return answer.kind === 'object' ? { kind: 'found', objects: [{ type, body: answer.object }] } : answer
}

/** The result for a target that is all objects of a list. */
export function foundAll(type: string, answer: WholeList | Missing | Failed): TargetResult {
  if (answer.kind !== 'objects') return answer
  return { kind: 'found', objects: [...answer.objects.map(asType(type)), ...answer.unusable] }
}

/**
 * Milliseconds before each further read of missing targets. A repetition is needed because an event may arrive before the
 * provider's replicas have its object.
 */
const REREAD_DELAYS_MS = [500, 1_500, 3_000]

/**
 * Reads every target, and reads missing targets again. If one target fails the whole read fails, because a verdict on a part of
 * the objects would be wrong.
 */
export async function readTargets(
  client: ApiClient,
  targets: readonly ReadTarget[],
  budget: Budget,
  readOnce: (target: ReadTarget) => Promise<TargetResult>,
): Promise<ReadResult> {
  const objects = new Map<string, ReadObject>()
  let missing = targets
  for (let round = 0; ; round++) {
    const answers = await Promise.all(missing.map(readOnce))
    for (const answer of answers) {
      if (answer.kind === 'failed') return answer
      // Two targets may return the same object. The read of a credit note, for example, also returns its refund.
      for (const object of answer.objects ?? []) objects.set(keyOf(object), object)
    }
    missing = missing.filter((_, index) => answers[index]?.kind === 'missing')
    const waitMs = REREAD_DELAYS_MS[round]
    if (missing.length === 0 || waitMs === undefined) break
    if (!(await client.wait(waitMs, budget))) {
      // A single 404 does not prove that the object does not exist, because a replica may lag.
      if (round === 0) return failed('unreachable', client.dialect.name, 'no time to read the missing objects again')
      break
    }
  }
  return objects.size === 0 ? { kind: 'not_found' } : { kind: 'read', objects: [...objects.values()] }
}

function keyOf({ type, body, fault }: ReadObject): string {
  // Unusable items may have no id or equal ids, so their whole content is the key.
  return fault === undefined ? `${type} ${String(body.id)}` : `${type} ${JSON.stringify(body)}`
}
