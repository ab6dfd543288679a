import {
  type DryRunBasis,
  type DryRunSummary,
  isoTime,
  type NotReplayed,
  type ShownVerdict,
  showableText,
  type VerdictDifference,
} from '@backstop/contracts'
import { nameOf } from '../explain/explanation.ts'
import { shownTime } from '../output/table.ts'
import type { DryRunOptions } from './options.ts'

/** One difference, for people. */
export function differenceText(difference: VerdictDifference): string {
  const { action_id, first_seen_at, stored, now } = difference
  return [
    `${action_id}: ${nameOf(difference)}, first seen ${shownTime(first_seen_at)}`,
    `  stored  ${verdictText(stored)}`,
    `  now     ${verdictText(now)}`,
  ]
    .map(showableText)
    .join('\n')
}

function verdictText(shown: ShownVerdict | null): string {
  if (shown === null) return 'not seen'
  const { verdict, reason, alerted, rule } = shown
  const alertedBefore = alerted && verdict !== 'unexplained' ? '; it was alerted before' : ''
  return `${verdict.replaceAll('_', ' ')} (${reason}): ${rule}${alertedBefore}`
}

const BASES: Record<DryRunBasis, string> = {
  events: 'judged again from the bodies of their events',
  reading: 'based on reads from the provider, which are not stored: judged from the records of then',
  expired: 'based on events whose bodies are past their retention: judged from the records of then',
}

const NOT_REPLAYED: Record<NotReplayed, string> = {
  body_gone: 'had no effect then, and their bodies are past their retention',
  hint_held: 'are hints of connections that cannot be read',
  hint_now: 'were ignored then and are hints now, for which the provider would have to be read',
  refused: "are malformed by today's rules",
}

/** The result, for people. */
export function summaryText(
  { actions, alerted, failed, changes, events }: DryRunSummary,
  { from, to }: DryRunOptions,
): string {
  const window = `from ${shownTime(isoTime(from))} to ${shownTime(isoTime(to))}`
  const counted = (counts: Record<string, number>, texts: Record<string, string>) =>
    Object.entries(counts).flatMap(([name, count]) => (count === 0 ? [] : [`  ${padded(count)}  ${texts[name]}`]))
  const notReplayed = counted(events.not_replayed, NOT_REPLAYED)
  const sections = [
    [
      `${actions.compared} actions compared, ${window}: ${actions.same} the same, ${actions.different} different`,
      ...counted(actions.by_basis, BASES),
      ...(actions.undecided === 0
        ? []
        : [`  ${padded(actions.undecided)}  more are left out: their second look is pending`]),
    ],
    [`Alerts about unexplained actions: ${alerted.stored} then, ${alerted.now} now`],
    changes.length === 0
      ? []
      : ['Changes', ...changes.map(({ from, to, count }) => `  ${padded(count)}  ${from} → ${to}`)],
    failed.first === null
      ? []
      : [
          `The rules fail on ${failed.count} payments or subscriptions, first on ${failed.first.id}:`,
          failed.first.error,
        ],
    notReplayed.length === 0 ? [] : [`Not replayed, of ${events.in_window} events`, ...notReplayed],
  ]
  return `${sections
    .filter(lines => lines.length > 0)
    .map(lines => lines.join('\n'))
    .join('\n\n')}\n`
}

function padded(count: number): string {
  return String(count).padStart(6)
}
