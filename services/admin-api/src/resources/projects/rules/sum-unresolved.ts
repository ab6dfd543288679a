import { type ActionDocument, type IncidentDocument, movedNoMoney, type Unresolved } from '@backstop/contracts'

type Incidents = Pick<Unresolved, 'open' | 'acknowledged' | 'since' | 'money'>

/** Adds up the incidents that nobody resolved yet, and the money of their actions. An action with several incidents counts once. */
export function sumUnresolved() {
  const counts = { open: 0, acknowledged: 0 }
  const counted = new Set<string>()
  const sums = new Map<string, Unresolved['money'][number]>()
  let since: string | null = null
  return {
    /** @returns the ids of the actions that were not added yet */
    addIncidents(incidents: readonly Pick<IncidentDocument, 'state' | 'opened_at' | 'action_id'>[]): string[] {
      for (const { state, opened_at } of incidents) {
        if (state === 'resolved') continue
        counts[state]++
        if (since === null || opened_at < since) since = opened_at
      }
      return [...new Set(incidents.flatMap(({ action_id }) => action_id ?? []))].filter(id => !counted.has(id))
    },

    addActions(
      actions: readonly Pick<ActionDocument, '_id' | 'verdict' | 'amount' | 'currency' | 'mode' | 'state'>[],
    ): void {
      for (const { _id, verdict, amount, currency, mode = null, state } of actions) {
        counted.add(_id)
        if (verdict !== 'unexplained' || amount === null || currency === null || movedNoMoney(state)) continue
        const key = `${mode} ${currency}`
        const sum = sums.get(key) ?? { currency, mode, amount: 0, count: 0 }
        sums.set(key, { ...sum, amount: sum.amount + amount, count: sum.count + 1 })
      }
    },

    show: (): Incidents => ({ ...counts, since, money: [...sums.values()].toSorted(liveFirst) }),
  }
}

type Sum = Unresolved['money'][number]

function liveFirst(a: Sum, b: Sum): number {
  return Number(a.mode === 'test') - Number(b.mode === 'test') || b.count - a.count
}
