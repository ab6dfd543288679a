import { type Action, countInBuckets, type Incident } from '@backstop/contracts'
import {
  countActors,
  countIncidentTimes,
  type DayCount,
  sumDays,
  timeToVerdict,
} from '../../src/totals/rules/count-day.ts'

const NO_TIMES = { verdict: [], acknowledgement: [], resolution: [] }

/**
 * Counts the listed actions and incidents of one day, as MongoDB must count them.
 * @param actions without those that were merged into others
 * @param incidents about actions
 */
export function countDay(
  actions: readonly Omit<Action, 'action_id'>[],
  incidents: readonly Omit<Incident, 'incident_id'>[],
): DayCount {
  const single = actions.map(
    ({ verdict, reason, kind, currency, state, mode = null, amount, actor_id = null, provider_created_at: at }) => {
      const own = { verdict, reason, kind, currency, state, mode, count: 1, amount: amount ?? 0 }
      return { ...own, actor_id, first: at, last: at }
    },
  )
  const times = actions.flatMap(action => timeToVerdict(action) ?? [])
  const { totals } = sumDays(single.map(total => ({ totals: [total], times: NO_TIMES })))
  return {
    totals,
    actors: countActors(single),
    withoutNotification: actions.filter(({ event_ids }) => event_ids.length === 0).length,
    times: { verdict: countInBuckets(times), ...countIncidentTimes(incidents) },
  }
}
