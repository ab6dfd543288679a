import type { ProviderKind } from '@backstop/contracts'
import type { Case, SubscriptionRow } from './case.ts'
import type { KnownDetails } from './details.ts'

/** Every stored set of details of the case, with the time since which it is kept, and the provider that showed it. */
export function* allDetailsOf({ actions, merged, refundTotals, subscriptions }: Case): Iterable<DatedDetails> {
  for (const { sides, details, firstSeenAt, provider } of [...actions, ...merged.map(({ record }) => record)]) {
    yield [details, firstSeenAt, provider]
    for (const side of sides) yield [side.details, firstSeenAt, side.provider]
  }
  for (const { details, observedAt, provider } of refundTotals) yield [details, observedAt, provider]
  for (const row of subscriptions) {
    yield [row.details, lastShownAt(row), row.provider]
    for (const { details, asOf } of row.snapshots) yield [details, asOf, row.provider]
  }
}

type DatedDetails = readonly [details: KnownDetails | undefined, since: number, provider: ProviderKind]

/** A subscription shows its customer again with each change, so its newest state counts. */
export function lastShownAt({ snapshots }: SubscriptionRow): number {
  return snapshots.at(-1)?.asOf ?? 0
}
