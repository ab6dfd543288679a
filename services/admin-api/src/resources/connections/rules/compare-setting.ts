import {
  type ActionDocument,
  type ActionKind,
  movedNoMoney,
  type OutOfBand,
  type SettingDryRun,
} from '@backstop/contracts'
import { permissionToAlert, withOutOfBand } from '@backstop/verdict'

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 7
const MAX_DRY_RUN_DAYS = 31
const MOST_LISTED = 500

/** The fields of an action that a dry run reads. */
export const DRY_RUN_FIELDS = [
  'kind',
  'subject',
  'provider_ref',
  'amount',
  'currency',
  'state',
  'first_seen_at',
  'look_done',
  'look_connections',
] as const satisfies readonly (keyof ActionDocument)[]
export type DryRunAction = Pick<ActionDocument, (typeof DRY_RUN_FIELDS)[number] | '_id'>

export interface Window {
  readonly from: Date
  /** Excluded. */
  readonly to: Date
}

/** @returns the fault of the window, if it has one */
export function dryRunWindow(
  query: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: Date,
): Window | { readonly fault: string } {
  const to = query.to === undefined ? now : new Date(query.to)
  const from = query.from === undefined ? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS) : new Date(query.from)
  if (from >= to) return { fault: 'Give a time before `to`' }
  if (to.getTime() - from.getTime() > MAX_DRY_RUN_DAYS * DAY_MS) {
    return { fault: `Give a window of at most ${MAX_DRY_RUN_DAYS} days` }
  }
  return { from, to }
}

/** The setting that is tried, and the connection that has it. */
export interface Tried {
  readonly connectionId: string
  readonly outOfBand: OutOfBand
}

/**
 * What alerted, and what would have alerted by another setting of one connection. Nothing else changes: the other connections of an
 * action, and whether the account had executed an operation, are as they were at its second look.
 */
export function compareSetting(
  actions: readonly DryRunAction[],
  { connectionId, outOfBand }: Tried,
): Pick<SettingDryRun, 'alerted' | 'would_alert' | 'unexplained' | 'actions'> {
  const looked = actions.flatMap(action => {
    const { look_done: at, look_connections: connections } = action
    if (at === undefined || connections === undefined) return []
    const alerted = permissionToAlert(connections).kind === 'alert'
    const wouldAlert = permissionToAlert(withOutOfBand(connections, connectionId, outOfBand)).kind === 'alert'
    return [{ action, at, alerted, wouldAlert }]
  })
  const newest = looked.sort((a, b) => b.at.getTime() - a.at.getTime() || (a.action._id < b.action._id ? 1 : -1))
  return {
    alerted: countAlerts(looked.filter(({ alerted }) => alerted).map(({ action }) => action)),
    would_alert: countAlerts(looked.filter(({ wouldAlert }) => wouldAlert).map(({ action }) => action)),
    unexplained: looked.length,
    actions: newest.slice(0, MOST_LISTED).map(({ action, at, alerted, wouldAlert }) => ({
      action_id: action._id,
      // Only refunds and cancellations have second looks.
      kind: action.kind as ActionKind,
      subject: action.subject,
      provider_ref: action.provider_ref,
      amount: action.amount,
      currency: action.currency,
      first_seen_at: action.first_seen_at,
      looked_at: at.toISOString(),
      alerted,
      would_alert: wouldAlert,
    })),
  }
}

function countAlerts(actions: readonly DryRunAction[]): SettingDryRun['alerted'] {
  const sums = new Map<string, SettingDryRun['alerted']['sums'][number]>()
  for (const { amount, currency, state } of actions) {
    if (currency === null || amount === null || movedNoMoney(state)) continue
    const sum = sums.get(currency) ?? { currency, count: 0, amount: 0 }
    sums.set(currency, { currency, count: sum.count + 1, amount: sum.amount + amount })
  }
  return { count: actions.length, sums: [...sums.values()].sort((a, b) => b.count - a.count) }
}
