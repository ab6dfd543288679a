import {
  type ActionDocument,
  type ActionKind,
  movedNoMoney,
  type OutOfBand,
  type SettingDryRun,
} from '@backstop/contracts'
import { COMPARED_FIELDS, type ComparedRefund, findRepeats, permissionToAlert, withOutOfBand } from '@backstop/verdict'

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
  /** The connected account for which it is tried; absent for all accounts without a setting of their own. */
  readonly account?: string
}

/**
 * What alerted, and what would have alerted by another setting of one connection. Nothing else changes: the other connections of an
 * action, and whether the account had executed an operation, are as they were at its second look.
 */
export function compareSetting(
  actions: readonly DryRunAction[],
  { connectionId, outOfBand, account }: Tried,
): Pick<SettingDryRun, 'alerted' | 'would_alert' | 'unexplained' | 'actions'> {
  const looked = actions.flatMap(action => {
    const { look_done: at, look_connections: connections } = action
    if (at === undefined || connections === undefined) return []
    const alerted = permissionToAlert(connections).kind === 'alert'
    const wouldAlert = permissionToAlert(withOutOfBand(connections, connectionId, outOfBand, account)).kind === 'alert'
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

/** The fields of a refund that a dry run of `refunded_twice_within_hours` reads. */
export const REPEAT_FIELDS = [...COMPARED_FIELDS, 'first_seen'] as const satisfies readonly (keyof ActionDocument)[]
export type RepeatAction = Pick<ActionDocument, (typeof REPEAT_FIELDS)[number] | '_id'>

const HOUR_MS = 3_600_000

/** How late a provider may send a notification, in milliseconds. */
const LATEST_MS = 3 * DAY_MS

/** When both refunds of a pair, whose second one was first seen in the window, can have been first seen. */
export function seenWithPairs({ from, to }: Window, withinHours: number): { readonly min: Date; readonly max: Date } {
  return {
    min: new Date(from.getTime() - withinHours * HOUR_MS - LATEST_MS),
    max: new Date(to.getTime() + LATEST_MS),
  }
}

/** The second refunds of the window that would have opened REFUNDED_TWICE. */
export function findRepeatsIn(
  actions: readonly RepeatAction[],
  { from, to }: Window,
  { connectionId, outOfBand, withinHours }: Tried & { readonly withinHours: number },
): NonNullable<SettingDryRun['refunded_twice']> {
  const refunds = actions.map((action): ComparedRefund & RepeatAction => ({ ...action, action_id: action._id }))
  const settings = { [connectionId]: { withinMs: withinHours * HOUR_MS, outOfBand } }
  const found = findRepeats(refunds, settings)
    .filter(({ refund: { first_seen } }) => first_seen >= from && first_seen < to)
    .sort((a, b) => b.refund.first_seen.getTime() - a.refund.first_seen.getTime())
  return {
    within_hours: withinHours,
    would_alert: countAlerts(found.map(({ refund }) => refund)),
    refunds: found.slice(0, MOST_LISTED).flatMap(({ refund, refundedTwice }) => {
      const { _id: action_id, subject, amount, currency, provider_created_at } = refund
      if (amount === null || currency === null) return []
      return [{ action_id, subject, amount, currency, provider_created_at, ...refundedTwice }]
    }),
  }
}

function countAlerts(
  actions: readonly Pick<DryRunAction, 'amount' | 'currency' | 'state'>[],
): SettingDryRun['alerted'] {
  const sums = new Map<string, SettingDryRun['alerted']['sums'][number]>()
  for (const { amount, currency, state } of actions) {
    if (currency === null || amount === null || movedNoMoney(state)) continue
    const sum = sums.get(currency) ?? { currency, count: 0, amount: 0 }
    sums.set(currency, { currency, count: sum.count + 1, amount: sum.amount + amount })
  }
  return { count: actions.length, sums: [...sums.values()].sort((a, b) => b.count - a.count) }
}
