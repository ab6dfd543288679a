import type { ReadObject, ReadTarget } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import type { ReadResult } from '../read-back.ts'
import type { Budget } from './api-client.ts'
import type { TargetResult } from './read-targets.ts'

/** The targets of a provider that only add details. People read details, and no verdict depends on them. */
export interface DetailParts {
  /** The limit of requests for details, in addition to the limit of the other requests. */
  readonly requestsPerMinute: number
  /** The URL to which the paths of details are appended. Absent if it is that of the other requests. */
  readonly base?: string
  isDetail(target: ReadTarget): boolean
  /** Adds the details to the objects of the other targets. */
  addTo(objects: readonly ReadObject[], details: readonly ReadObject[]): readonly ReadObject[]
}

/** The longest time that a read waits for details after its other targets were read, in milliseconds. */
const DETAILS_GRACE_MS = 500

/**
 * Reads targets together with their details. Each detail is requested once, at the same time as the other targets, and only if
 * the rate limit allows it now. A failure leaves the details unknown and changes nothing else.
 * @param readDetail reads a detail with a client of its own, so that details use nothing of the limit of other requests, and
 * their failures cause no pause of other requests
 * @param readOthers reads the targets that are not details
 */
export async function readWithDetails(
  { isDetail, addTo }: DetailParts,
  targets: readonly ReadTarget[],
  within: Budget,
  clock: Clock,
  readDetail: (target: ReadTarget, budget: Budget) => Promise<TargetResult>,
  readOthers: (targets: readonly ReadTarget[]) => Promise<ReadResult>,
): Promise<ReadResult> {
  const ending = new AbortController()
  const signal = within.signal === undefined ? ending.signal : AbortSignal.any([within.signal, ending.signal])
  const reading = targets
    .filter(isDetail)
    .map(target => readDetail(target, { endsAt: within.endsAt, signal, effort: 'once_if_free' }))
  const others = await readOthers(targets.filter(target => !isDetail(target)))
  if (others.kind === 'failed') {
    ending.abort()
    return others
  }
  const cancel = clock.schedule(DETAILS_GRACE_MS, () => ending.abort())
  const details = await Promise.all(reading)
  cancel()
  const objects = addTo(
    others.kind === 'read' ? others.objects : [],
    details.flatMap(detail => (detail.kind === 'found' ? detail.objects : [])),
  )
  return objects.length === 0 ? { kind: 'not_found' } : { kind: 'read', objects }
}
