import type { Stats } from '../../api/stats.ts'
import { formatMoney } from '../../format/money.ts'
import { formatClock, formatTime } from '../../format/times.ts'
import type { Count, Unresolved } from './unresolved.ts'

type Total = Stats['totals'][number]

const DAY_MS = 24 * 60 * 60_000

/** The first sentence of the overview: whether everything is quiet, and if not, how much is unresolved since when. */
export function overviewSentence(unresolved: Unresolved, stats: Stats, days: number, nowMs: number): string {
  if (unresolved.open.count + unresolved.acknowledged.count > 0) return unresolvedSentence(unresolved, nowMs)
  const judged = stats.totals.filter(({ kind }) => kind === 'refund' || kind === 'cancellation')
  const { real = [], test = [] } = Object.groupBy(judged, ({ mode }) => (mode === 'test' ? 'test' : 'real'))
  const isOnlyTest = countOf(real) === 0 && countOf(test) > 0
  const more = isOnlyTest || countOf(test) === 0 ? '' : `; ${countOf(test).toLocaleString()} more in test mode`
  return `${madeSentence(isOnlyTest ? test : real, isOnlyTest ? 'test ' : '', days)}${more}`
}

function madeSentence(totals: readonly Total[], prefix: string, days: number): string {
  const count = (kind: Total['kind']) => countOf(totals.filter(total => total.kind === kind))
  const [refunds, cancellations] = [count('refund'), count('cancellation')]
  const parts = [many(refunds, `${prefix}refund`), many(cancellations, `${prefix}cancellation`)]
  const made = parts.filter(text => text !== '').join(' and ')
  if (made === '') return `Quiet: no refunds and no cancellations in ${days} days`
  const verdict = (wanted: Total['verdict']) => countOf(totals.filter(total => total.verdict === wanted))
  const [unexplained, pending] = [verdict('unexplained'), verdict('pending')]
  if (unexplained > 0) return `Nothing is open: ${made} in ${days} days, ${unexplained} unexplained and dealt with`
  return pending > 0
    ? `Quiet: ${made} in ${days} days, ${pending} pending`
    : `Quiet: ${made} in ${days} days, ${refunds + cancellations === 1 ? 'explained' : 'all explained'}`
}

/** Refunds that failed or were taken back are not counted. */
function countOf(totals: readonly Total[]): number {
  return totals.reduce((sum, { count, not_carried_out }) => sum + count - not_carried_out, 0)
}

function unresolvedSentence({ open, acknowledged, money, isMoneyComplete, since }: Unresolved, nowMs: number): string {
  const number = [countText(open, 'open'), countText(acknowledged, 'acknowledged')]
    .filter(text => text !== '')
    .join(', ')
  const sums = money
    .map(({ amount, currency, isTest }) => `${formatMoney(amount, currency)}${isTest ? ' (test)' : ''}`)
    .join(', ')
  const what = sums === '' ? '' : `: ${isMoneyComplete ? '' : 'at least '}${sums} unexplained`
  const sinceMs = since === null ? undefined : Date.parse(since)
  const when =
    sinceMs === undefined
      ? ''
      : ` since ${nowMs - sinceMs < DAY_MS ? formatClock(sinceMs) : formatTime(sinceMs, nowMs)}`
  const sentence = `${number}${what}${when}`
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`
}

function countText({ count, isComplete }: Count, state: string): string {
  return count === 0 ? '' : `${isComplete ? '' : 'at least '}${count.toLocaleString()} ${state}`
}

function many(count: number, noun: string): string {
  if (count === 0) return ''
  return `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`
}
