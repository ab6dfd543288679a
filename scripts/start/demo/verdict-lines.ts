/** Describes the actions of the API in lines of text for the demo. Pure. */
import type { Action } from '@backstop/contracts'
import { formatMoney } from '@backstop/contracts/money'

export interface VerdictLine {
  word: string
  text: string
}

/** The line for an action whose verdict has changed, e.g. from pending to explained; undefined if it has not. */
export function describeVerdict(
  action: Action,
  knownVerdict: Action['verdict'] | undefined,
  nowMs: number,
): VerdictLine | undefined {
  if (action.verdict === knownVerdict) return undefined
  const what = `${action.kind} ${action.provider_ref ?? `on ${action.subject}`} of ${formatMoney(action.amount, action.currency) ?? 'an unknown amount'}`
  switch (action.verdict) {
    case 'explained': {
      const by = action.operation_id === null ? 'made before the connection' : `by operation ${action.operation_id}`
      return { word: 'explained', text: `${what}: ${by} (${action.reason})` }
    }
    case 'pending': {
      const seconds = secondsUntil(action.second_look_at, nowMs)
      return { word: 'unexplained', text: `${what}, at first sight: a second look follows in ${seconds} s` }
    }
    case 'unexplained':
      return { word: 'unexplained', text: `${what}, at the second look too (${action.reason})` }
    case 'not_alerted':
      return { word: 'not alerted', text: `${what}: unexplained, but no alert (${action.reason})` }
    default:
      throw action.verdict satisfies never
  }
}

/** The countdown to the next second look; undefined if none is pending. */
export function describeCountdown(actions: readonly Action[], nowMs: number): string | undefined {
  const due = actions
    .filter(action => action.verdict === 'pending' && action.second_look_at !== null)
    .map(action => secondsUntil(action.second_look_at, nowMs))
  if (due.length === 0) return undefined
  const next = Math.min(...due)
  return next > 0 ? `          … second look in ${next} s` : '          … second look now'
}

function secondsUntil(timestamp: string | null, nowMs: number): number {
  return timestamp === null ? 0 : Math.max(0, Math.ceil((Date.parse(timestamp) - nowMs) / 1000))
}
