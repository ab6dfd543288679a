import { formatMoney, type SettingDryRun, showableText } from '@backstop/contracts'
import { nameOf } from '../explain/explanation.ts'
import { factsOf, shownTime } from '../output/table.ts'

/** Differences that people read; `--json` has the newest 500 actions. */
const DIFFERENCES_SHOWN = 50

/** What a dry run of one connection found, for people. */
export function dryRunText(name: string, answer: SettingDryRun): string {
  const { connection_id, out_of_band, from, to, alerted, would_alert, unexplained, is_complete, actions } = answer
  const { refunded_twice: repeats } = answer
  const differing = actions.filter(action => action.alerted !== action.would_alert)
  const left = differing.length - DIFFERENCES_SHOWN
  const repeatsLeft = (repeats?.refunds.length ?? 0) - DIFFERENCES_SHOWN
  const lines = [
    `${showableText(name)} (${connection_id})`,
    factsOf([
      ['Window', `${shownTime(from)} to ${shownTime(to)}`],
      ['Unexplained', String(unexplained)],
      ['Alerted', countText(alerted)],
      [`With ${out_of_band}`, countText(would_alert)],
      ...(repeats === null
        ? []
        : [[`Refunded twice within ${repeats.within_hours} h`, countText(repeats.would_alert)] as const]),
    ]).trimEnd(),
    ...(is_complete ? [] : ['Only a part of the window was counted: give a shorter one']),
    ...differing.slice(0, DIFFERENCES_SHOWN).map(differenceText),
    ...(left > 0 ? [`… and ${left} more; --json prints them`] : []),
    ...(repeats?.refunds ?? []).slice(0, DIFFERENCES_SHOWN).map(repeatText),
    ...(repeatsLeft > 0 ? [`… and ${repeatsLeft} more; --json prints them`] : []),
  ]
  return `${lines.join('\n')}\n`
}

function countText({ count, sums }: SettingDryRun['alerted']): string {
  const money = sums.map(({ amount, currency }) => formatMoney(amount, currency)).join(', ')
  return money === '' ? String(count) : `${count} (${money})`
}

function differenceText(action: SettingDryRun['actions'][number]): string {
  const what = `${action.action_id}: ${nameOf(action)}, first seen ${shownTime(action.first_seen_at)}`
  return showableText(`  ${action.would_alert ? 'would alert' : 'would not alert'}  ${what}`)
}

function repeatText(repeat: NonNullable<SettingDryRun['refunded_twice']>['refunds'][number]): string {
  const { action_id, subject, amount, currency, operation_id, earlier } = repeat
  const first = `${earlier.provider_ref} by ${earlier.operation_id}`
  return showableText(
    `  refunded twice  ${action_id}: ${formatMoney(amount, currency)} on ${subject} by ${operation_id}, after ${first}`,
  )
}
