import {
  type IncidentState,
  movedNoMoney,
  partsOfStormScope,
  type StormDocument,
  type StormMemberDocument,
  StormOverview,
} from '@backstop/contracts'
import { showDocument } from '../../../rules/show-document.ts'

/** The incidents of a storm by state, and the money that they moved. */
export interface StormCount {
  readonly states: Readonly<Record<IncidentState, number>>
  readonly money: StormOverview['money']
  /** Who made at least half of them; null also before all are counted. */
  readonly actor: StormOverview['actor']
}

export const EMPTY_COUNT: StormCount = { states: { open: 0, acknowledged: 0, resolved: 0 }, money: [], actor: null }

/** Adds an incident to the count of its storm. */
export function addIncident(
  count: StormCount,
  { amount, currency, state: moved, facts }: Pick<StormMemberDocument, 'amount' | 'currency' | 'state' | 'facts'>,
  state: IncidentState,
): StormCount {
  const { money } = count
  const states = { ...count.states, [state]: count.states[state] + 1 }
  if (amount === null || currency === null || (moved !== undefined && movedNoMoney(moved))) return { ...count, states }
  const { mode } = facts
  const sum = money.find(known => known.currency === currency && known.mode === mode) ?? { amount: 0, count: 0 }
  const others = money.filter(other => other !== sum)
  const added = { currency, amount: sum.amount + amount, count: sum.count + 1, mode }
  return { ...count, states, money: [...others, added] }
}

/** The storm with its incidents counted. */
export function showStorm(storm: StormDocument, { states, money, actor }: StormCount): StormOverview {
  const { connectionId, account } = partsOfStormScope(storm.connection_id)
  return showDocument(StormOverview, storm, {
    storm_id: storm._id,
    connection_id: connectionId,
    ...(account ? { account } : {}),
    state: stateOf(storm, states),
    last_at: storm.last_member_at.toISOString(),
    incidents: states,
    actor,
    money: money.toSorted((a, b) => isTest(a) - isTest(b) || b.count - a.count),
  })
}

const isTest = ({ mode }: StormOverview['money'][number]) => Number(mode === 'test')

/** A burst begins its storm before an incident can join it. */
function stateOf(
  { state, bursts }: StormDocument,
  { open, acknowledged, resolved }: StormCount['states'],
): IncidentState {
  const awaitsFirst = state === 'open' && bursts !== undefined && acknowledged + resolved === 0
  if (open > 0 || awaitsFirst) return 'open'
  return acknowledged > 0 ? 'acknowledged' : 'resolved'
}
