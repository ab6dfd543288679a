import {
  type ActionDocument,
  bucketOf,
  type DailyTimes,
  type IncidentDocument,
  type Stats,
  type TimeBucket,
} from '@backstop/contracts'
import { refusedField } from '../../http/refused-field.ts'
import type { DocumentFilter } from '../../store/collection.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { boundsOf, type Period, shownPeriod, summarizeDays } from './rules/summarize-days.ts'

/** The most actions that are read for the stats of one account, actor or customer. */
const MAX_COUNTED = 100_000
/** Providers' clocks may be ahead of ours by less than this, in milliseconds. */
const CLOCK_TOLERANCE_MS = 86_400_000

/** The fields of an action that are counted. */
const COUNTED = [
  'provider_created_at',
  'verdict',
  'reason',
  'kind',
  'currency',
  'mode',
  'state',
  'amount',
  'verdict_bucket',
  'incident_id',
] as const
const NO_TIMES: DailyTimes = { verdict: [], acknowledgement: [], resolution: [] }

/**
 * The stats of one connected account, actor or customer, counted from the actions: daily totals of each would be a thousand times as many, for a
 * question that people ask about a few.
 * @param ofActions which actions are counted
 * @param ofIncidents which incidents are counted; undefined for those of the actions
 * @throws AppError `invalid_request` if there are too many
 */
export async function countActions(
  { actions, incidents }: Pick<ReadCollections, 'actions' | 'incidents'>,
  ofActions: DocumentFilter<ActionDocument>,
  ofIncidents: DocumentFilter<IncidentDocument> | undefined,
  period: Period,
  interval: Stats['interval'],
): Promise<Stats> {
  const summary = summarizeDays(interval)
  const { min, max } = boundsOf(period)
  const made = { min: min.toISOString(), max: max.toISOString() }
  const first_seen = { min: new Date(min.getTime() - CLOCK_TOLERANCE_MS) }
  const incidentIds: string[] = []
  let count = 0
  for await (const batch of actions.batches(
    { ...ofActions, merged_into: null, first_seen, provider_created_at: made },
    COUNTED,
  )) {
    count += batch.length
    if (count > MAX_COUNTED) throw refusedField('query.from', 'Give a shorter period: there are too many actions')
    for (const { provider_created_at, verdict_bucket, amount, mode = null, incident_id, ...total } of batch) {
      if (incident_id !== null) incidentIds.push(incident_id)
      summary.add({
        day: new Date(provider_created_at.slice(0, 10)),
        totals: [{ ...total, mode, amount: amount ?? 0, count: 1 }],
        times: { ...NO_TIMES, verdict: verdict_bucket === undefined ? [] : [[verdict_bucket, 1]] },
      })
    }
  }
  const where = ofIncidents ?? { _id: { in: incidentIds } }
  for await (const batch of incidents.batches({ ...where, opened: { min, max } }, [
    'opened',
    'acknowledged_at',
    'resolved_at',
  ])) {
    for (const { opened, acknowledged_at, resolved_at } of batch) {
      const after = (at: string | null | undefined): TimeBucket[] =>
        at == null ? [] : [[bucketOf(Date.parse(at) - opened.getTime()), 1]]
      const times = { ...NO_TIMES, acknowledgement: after(acknowledged_at), resolution: after(resolved_at) }
      summary.add({ day: new Date(opened.toISOString().slice(0, 10)), totals: [], times })
    }
  }
  return { ...shownPeriod(period), interval, ...summary.show(), recount_pending: false }
}
