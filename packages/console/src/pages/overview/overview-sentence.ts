import type { Stats } from '../../api/actions.ts'
import { formatMoney } from '../../format/money.ts'
import { formatClock, formatTime } from '../../format/times.ts'
import type { Unresolved } from './attention.ts'

type Total = Stats['totals'][number]

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** Most second looks end within this time after the first one. */
const CHECKED_WITHIN_MS = 2 * MINUTE_MS
/** A busy hour has this many times the actions of an average one. */
const BUSY = 4
/** So many actions may wait for their second look in any project without being unusual. */
const ALWAYS_USUAL = 3

/** The first sentence of the overview: whether everything is quiet, and if not, how much is unresolved or being checked. */
export function overviewSentence(unresolved: Unresolved, stats: Stats, days: number, nowMs: number): string {
  const { open, acknowledged, being_checked } = unresolved
  const judged = stats.totals.filter(({ kind }) => kind === 'refund' || kind === 'cancellation')
  const isUsual = being_checked <= usuallyChecked(countOf(judged), days)
  if (open + acknowledged > 0) {
    return `${unresolvedSentence(unresolved, nowMs)}${isUsual ? '' : `; ${many(being_checked, 'more action')} are being checked`}`
  }
  const { real = [], test = [] } = Object.groupBy(judged, ({ mode }) => (mode === 'test' ? 'test' : 'real'))
  const isOnlyTest = countOf(real) === 0 && countOf(test) > 0
  const more = isOnlyTest || countOf(test) === 0 ? '' : `; ${countOf(test).toLocaleString('en')} more in test mode`
  const shown = isOnlyTest ? test : real
  const made = madeOf(shown, isOnlyTest ? 'test ' : '')
  if (!isUsual) {
    const seen = made === '' ? '' : `: ${made} in ${days} days`
    return `${many(being_checked, 'action')} are being checked, because nothing explains them yet${seen}${more}`
  }
  return `${quietSentence(made, shown, being_checked, days)}${more}`
}

/** Whether the project saw no action. The counts of a day follow its actions by seconds, so counts alone do not say it. */
export function isNothingSeen({ totals, recount_pending }: Stats, beingChecked: number): boolean {
  return totals.length === 0 && beingChecked === 0 && !recount_pending
}

/** How many actions wait for their second look at once when nothing unusual happens, by the average of the period. */
function usuallyChecked(made: number, days: number): number {
  return ALWAYS_USUAL + Math.round(BUSY * made * (CHECKED_WITHIN_MS / (days * DAY_MS)))
}

function madeOf(totals: readonly Total[], prefix: string): string {
  const count = (kind: Total['kind']) => countOf(totals.filter(total => total.kind === kind))
  return [many(count('refund'), `${prefix}refund`), many(count('cancellation'), `${prefix}cancellation`)]
    .filter(text => text !== '')
    .join(' and ')
}

function quietSentence(made: string, totals: readonly Total[], being_checked: number, days: number): string {
  if (made === '') return `Quiet: no refunds and no cancellations in ${days} days`
  const unexplained = countOf(totals.filter(({ verdict }) => verdict === 'unexplained'))
  const checked = being_checked === 0 ? '' : `, ${being_checked} being checked`
  if (unexplained > 0)
    return `Nothing is open: ${made} in ${days} days, ${unexplained} unexplained and dealt with${checked}`
  const explained = countOf(totals) === 1 ? ', explained' : ', all explained'
  return `Quiet: ${made} in ${days} days${checked === '' ? explained : checked}`
}

/** Refunds that failed or were taken back are not counted. */
function countOf(totals: readonly Total[]): number {
  return totals.reduce((sum, { count, not_carried_out }) => sum + count - not_carried_out, 0)
}

function unresolvedSentence({ open, acknowledged, money, since }: Unresolved, nowMs: number): string {
  const number = [[open, 'open'] as const, [acknowledged, 'acknowledged'] as const]
    .filter(([count]) => count > 0)
    .map(([count, state]) => `${count.toLocaleString('en')} ${state}`)
    .join(', ')
  // Some providers state no mode. Their money is real, as live money is.
  const sums = [
    ...Map.groupBy(money, ({ currency, mode }) => `${currency}${mode === 'test' ? ' (test)' : ''}`).values(),
  ]
    .flatMap(([first, ...others]) => {
      if (first === undefined) return []
      const amount = others.reduce((sum, each) => sum + each.amount, first.amount)
      return [`${formatMoney(amount, first.currency)}${first.mode === 'test' ? ' (test)' : ''}`]
    })
    .join(', ')
  const what = sums === '' ? '' : `: ${sums} unexplained`
  const sinceMs = since === null ? undefined : Date.parse(since)
  const when =
    sinceMs === undefined
      ? ''
      : ` since ${nowMs - sinceMs < DAY_MS ? formatClock(sinceMs) : formatTime(sinceMs, nowMs)}`
  return `${number}${what}${when}`
}

function many(count: number, noun: string): string {
  if (count === 0) return ''
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}
