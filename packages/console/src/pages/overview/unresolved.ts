import type { Action, Incident } from '@backstop/client'
import { movedNoMoney } from '../../format/moved-money.ts'

export interface Count {
  readonly count: number
  /** False if there are more than were read. */
  readonly isComplete: boolean
}

/** Test money is never added to real money. */
interface Money {
  readonly currency: string
  readonly isTest: boolean
  readonly amount: number
}

/** The incidents that nobody resolved yet, with the money of those that are about refunds. */
export interface Unresolved {
  readonly open: Count
  readonly acknowledged: Count
  readonly money: readonly Money[]
  /** False if there may be more money than was added up. */
  readonly isMoneyComplete: boolean
  /** When the oldest opened; null if not all were read. */
  readonly since: string | null
}

/** The newest items of a list. There are more unless `next_cursor` is null. */
interface Newest<T> {
  readonly data: readonly T[]
  readonly next_cursor: string | null
}

type OpenedIncident = Pick<Incident, 'incident_id' | 'action_id' | 'opened_at'>

/**
 * The API sums no money of incidents, so it is added up here.
 * @param actions the newest unexplained actions, also those of resolved incidents
 */
export function unresolvedOf(
  open: Newest<OpenedIncident>,
  acknowledged: Newest<OpenedIncident>,
  actions: Newest<Pick<Action, 'incident_id' | 'amount' | 'currency' | 'mode' | 'state'>>,
): Unresolved {
  const incidents = [...open.data, ...acknowledged.data]
  const isComplete = open.next_cursor === null && acknowledged.next_cursor === null
  const withAction = incidents.filter(({ action_id }) => action_id !== null).length
  const ids = new Set(incidents.map(({ incident_id }) => incident_id))
  const own = actions.data.filter(({ incident_id }) => ids.has(incident_id ?? ''))
  const money = new Map<string, Money>()
  for (const { amount, currency, mode, state } of own) {
    if (amount === null || currency === null || movedNoMoney({ state })) continue
    const isTest = mode === 'test'
    const key = `${isTest} ${currency}`
    money.set(key, { currency, isTest, amount: (money.get(key)?.amount ?? 0) + amount })
  }
  return {
    open: { count: open.data.length, isComplete: open.next_cursor === null },
    acknowledged: { count: acknowledged.data.length, isComplete: acknowledged.next_cursor === null },
    money: [...money.values()].toSorted((a, b) => Number(a.isTest) - Number(b.isTest)),
    isMoneyComplete: isComplete && (actions.next_cursor === null || own.length === withAction),
    since: isComplete ? (incidents.map(({ opened_at }) => opened_at).toSorted()[0] ?? null) : null,
  }
}
