import type { Action } from '@backstop/client'
import { movedNoMoney } from '../../format/moved-money.ts'
import type { Member } from './storm-members.ts'

export interface Sum {
  readonly mode: 'live' | 'test' | null
  readonly currency: string
  readonly amount: number
  readonly count: number
  readonly largest: number
}

/** The money that moved, per mode and currency. Test money is never added to live money. */
export function sumsOf(members: readonly Member[]): Sum[] {
  const sums = new Map<string, Sum>()
  for (const { action } of members) {
    if (action?.amount == null || action.currency === null || movedNoMoney(action)) continue
    const { amount, currency, mode = null } = action
    const key = `${mode} ${currency}`
    const old = sums.get(key) ?? { mode, currency, amount: 0, count: 0, largest: 0 }
    sums.set(key, {
      ...old,
      amount: old.amount + amount,
      count: old.count + 1,
      largest: Math.max(old.largest, amount),
    })
  }
  return [...sums.values()].toSorted((a, b) => b.count - a.count)
}

export interface Common {
  readonly what: 'actor' | 'customer' | 'subject' | 'amount' | 'reason' | 'key' | 'user' | 'channel'
  readonly action: Action
  readonly count: number
}

const FEATURES: Record<Common['what'], (action: Action) => string | number | null | undefined> = {
  channel: action => action.origin?.channel,
  actor: action => action.actor_id,
  key: action => action.origin?.key_name,
  user: action => action.origin?.user,
  customer: action => action.customer?.id ?? action.customer?.email,
  subject: action => action.subject,
  amount: ({ amount, currency }) => (amount === null ? null : `${amount} ${currency}`),
  reason: action => action.payment?.refund_reason,
}

/** What at least half of the actions have in common. Two actions show nothing in common. */
export function commonOf(members: readonly Member[]): Common[] {
  const actions = members.flatMap(({ action }) => action ?? [])
  if (actions.length < 3) return []
  return Object.entries(FEATURES).flatMap(([what, read]) => {
    const groups = Map.groupBy(actions, read)
    const [value, largest] = [...groups].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? []
    const [action] = largest ?? []
    if (value == null || largest === undefined || action === undefined || largest.length * 2 < actions.length) return []
    return [{ what: what as Common['what'], action, count: largest.length }]
  })
}

export interface Bar {
  readonly fromMs: number
  readonly toMs: number
  readonly count: number
}

const MINUTE_MS = 60_000
const MAX_BARS = 90

/** The actions by the minute in which they were made. A long storm gets longer intervals. */
export function barsOf(atMs: readonly number[]): Bar[] {
  const [first, last] = [Math.min(...atMs), Math.max(...atMs)]
  if (atMs.length === 0) return []
  const minutes = Math.floor(last / MINUTE_MS) - Math.floor(first / MINUTE_MS) + 1
  const widthMs = Math.ceil(minutes / MAX_BARS) * MINUTE_MS
  const beginMs = Math.floor(first / MINUTE_MS) * MINUTE_MS
  const bars = Array.from({ length: Math.floor((last - beginMs) / widthMs) + 1 }, (_, at) => ({
    fromMs: beginMs + at * widthMs,
    toMs: beginMs + (at + 1) * widthMs,
    count: 0,
  }))
  for (const at of atMs) {
    const bar = bars[Math.floor((at - beginMs) / widthMs)]
    if (bar !== undefined) bar.count += 1
  }
  return bars
}

/** The filters of the list of the actions that were made within a bar. */
export function searchOfBar({ fromMs, toMs }: Bar): { made_from: string; made_to: string } {
  return { made_from: new Date(fromMs).toISOString(), made_to: new Date(toMs).toISOString() }
}
