import type { Action, DailyTotalsDocument, Incident, ProjectTotalsDocument } from '@backstop/contracts'
import { countedDayId, dayOf, projectDayId } from '@backstop/verdict'
import { sumDays } from '../../src/totals/rules/count-day.ts'
import { CLOCK_DIFFERENCE_MS, type TotalsStore } from '../../src/totals/totals-store.ts'
import { countDay } from './count-day.ts'

/** The daily totals in memory, for simulations. */
export function createMemoryTotals(
  days: Map<string, DailyTotalsDocument>,
  projectDays: Map<string, ProjectTotalsDocument>,
  listed: {
    readonly actions: ReadonlyMap<string, Action & { readonly merged_into?: string }>
    readonly incidents: ReadonlyMap<string, Incident>
  },
): TotalsStore {
  const dueAt = (day: DailyTotalsDocument | undefined) => day?.count_at?.getTime() ?? Infinity
  return {
    mark: async (touched, now) => {
      for (const one of touched) {
        const _id = countedDayId(one)
        const known = days.get(_id)
        if (dueAt(known) <= now) continue
        const times = { verdict: [], acknowledgement: [], resolution: [] }
        const day = { _id, project_id: one.projectId, connection_id: one.connectionId, day: new Date(one.day) }
        const initial: DailyTotalsDocument = { ...day, marks: 0, counted: 0, totals: [], times }
        const { count_at = new Date(now), ...rest } = known ?? initial
        days.set(_id, { ...rest, marks: rest.marks + 1, count_at })
      }
    },
    claimNext: async (now, leasedUntil) => {
      const [next] = [...days.values()].filter(day => dueAt(day) <= now).sort((a, b) => dueAt(a) - dueAt(b))
      if (next === undefined) return undefined
      const marks = next.marks + 1
      days.set(next._id, { ...next, marks, count_at: new Date(leasedUntil) })
      const { project_id, connection_id, day } = next
      return { projectId: project_id, connectionId: connection_id, day: day.getTime(), marks }
    },
    count: async ({ connectionId, day }) =>
      countDay(
        [...listed.actions.values()].filter(
          action =>
            action.merged_into === undefined &&
            action.connection_id === connectionId &&
            dayOf(Date.parse(action.provider_created_at)) === day,
        ),
        [...listed.incidents.values()].filter(
          ({ connection_id, action_id, opened_at }) =>
            action_id !== null && connection_id === connectionId && dayOf(Date.parse(opened_at)) === day,
        ),
      ),
    save: async (day, { totals, times, actors, withoutNotification }) => {
      const known = days.get(countedDayId(day))
      if (known === undefined || known.counted > day.marks) return
      const ofActors = { actors: [...actors], actor_count: actors.length }
      const counted = { totals: [...totals], times, ...ofActors, without_notification: withoutNotification }
      days.set(known._id, { ...known, ...counted, counted: day.marks })
    },
    sumProject: async ({ projectId, day }) => {
      const _id = projectDayId({ projectId, day })
      const ofDay = [...days.values()].filter(one => one.project_id === projectId && one.day.getTime() === day)
      const { totals, times } = sumDays(ofDay)
      const version = (projectDays.get(_id)?.version ?? 0) + 1
      projectDays.set(_id, { _id, project_id: projectId, day: new Date(day), version, totals: [...totals], times })
    },
    finish: async (day, nextAt) => {
      const known = days.get(countedDayId(day))
      if (known?.counted !== day.marks) return
      const { count_at: _due, ...rest } = known
      const isUnchanged = known.marks === day.marks && dueAt(known) > nextAt + CLOCK_DIFFERENCE_MS
      days.set(known._id, isUnchanged ? rest : { ...rest, count_at: new Date(nextAt) })
    },
  }
}
