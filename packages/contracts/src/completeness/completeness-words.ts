/** What a statement of completeness says, for people. The console, the command line and the signed export say the same. */

import type { StatementCategory } from '../actions/statement-line.ts'
import type { Completeness, CompletenessLimit, CompletenessOpen, ConnectionCompleteness } from './completeness.ts'

/** How times and numbers are written. */
export interface ShownValues {
  time(at: string): string
  count(number: number): string
}

/** The lines of a statement. */
export const CATEGORY_WORDS: Readonly<Record<StatementCategory, string>> = {
  made_by_our_software: 'Made by our software',
  expected: 'Made by people: announced or confirmed',
  unexplained: 'Unexplained: made by nobody we know',
  pending: 'Pending',
  out_of_band_ignored: 'Made outside of our software, on accounts that never alert',
  other: 'Other: no alert was needed',
  not_carried_out: 'Failed or canceled: no money moved',
}

/** Whether every change of the period was read and judged, as one or two sentences. */
export function answerWords(one: ConnectionCompleteness, show: ShownValues): string {
  const { answer, recorded, watched_from, watched_to, complete_until } = one
  const judged = judgedWords(one, show)
  switch (answer) {
    case 'complete':
      return `Complete. Everything that the provider lists from ${show.time(watched_from)} to ${show.time(watched_to)} was read. ${judged}`
    case 'complete_so_far':
      return `Complete up to ${show.time(complete_until ?? watched_from)}. Everything that the provider lists since ${show.time(watched_from)} was read. ${judged}`
    case 'open':
      return `Not complete: ${one.open.map(what => OPEN[what](one, show)).join('; ')}.`
    case 'not_provable':
      return `Not provable: ${whyNotProvable(one, show)}. ${show.count(one.judged)} of ${show.count(recorded)} known changes are judged.`
    default:
      return answer satisfies never
  }
}

function whyNotProvable({ limits, reading }: ConnectionCompleteness, { time }: ShownValues): string {
  if (limits.includes('no_read_key'))
    return 'Backstop cannot read this account, so it knows only the changes of which a notification arrived'
  if (limits.includes('not_read_for_thirty_days'))
    return 'the account could not be read for more than 30 days, and a provider lists some changes for only 30 days'
  const before = reading.recorded_from === null ? 'in this period' : `before ${time(reading.recorded_from)}`
  return `it is not recorded whether the account was read ${before}, and a provider lists some changes for only 30 days`
}

function judgedWords({ recorded, judged }: ConnectionCompleteness, { count }: ShownValues): string {
  if (recorded === 0) return 'There was no refund or cancellation.'
  if (judged < recorded)
    return `${count(judged)} of ${count(recorded)} recorded changes are judged, the others within a minute.`
  return recorded === 1 ? 'The one recorded change is judged.' : `All ${count(recorded)} recorded changes are judged.`
}

const OPEN: Readonly<Record<CompletenessOpen, (one: ConnectionCompleteness, show: ShownValues) => string>> = {
  not_read_yet: ({ complete_until }, { time }) =>
    complete_until === null ? 'the account was not read yet' : `the account was last read at ${time(complete_until)}`,
  verdicts_pending: ({ recorded, judged }, { count }) =>
    `${many(recorded - judged, 'change waits', 'changes wait', count)} for a verdict`,
  notifications_wait: ({ waiting_notifications }, { count }) =>
    `${many(waiting_notifications, 'notification waits', 'notifications wait', count)} until the account can be read`,
  notifications_unusable: ({ unusable_notifications }, { count }) =>
    `${many(unusable_notifications, 'notification', 'notifications', count)} could not be used and ${unusable_notifications === 1 ? 'waits' : 'wait'} for a repair`,
  being_counted: () => 'a day is being counted again, which takes seconds',
}

/** The most notifications of a kind that are counted. */
const MOST = 100

function many(number: number, one: string, several: string, count: ShownValues['count']): string {
  return `${number >= MOST ? `${MOST} or more` : count(number)} ${number === 1 ? one : several}`
}

/** The numbers behind the answer. */
export function completenessFacts(
  { recorded, judged, found_by_reading, complete_until, reading }: ConnectionCompleteness,
  { time, count }: ShownValues,
): { readonly label: string; readonly value: string }[] {
  const unknown = 'Not recorded'
  const notified = found_by_reading === null ? unknown : count(recorded - found_by_reading)
  return [
    { label: 'Recorded changes', value: count(recorded) },
    { label: 'Judged', value: count(judged) },
    { label: 'Reported by a notification', value: notified },
    {
      label: 'Found only by reading the account',
      value: found_by_reading === null ? unknown : count(found_by_reading),
    },
    { label: 'Read up to', value: complete_until === null ? 'Not read' : time(complete_until) },
    {
      label: 'Lists read to their end',
      value:
        reading.recorded_from === null
          ? unknown
          : `${count(reading.completed)} times, ${count(reading.objects)} entries`,
    },
  ]
}

/** Each time in which the account was not read, as a sentence. */
export function interruptionWords({ reading }: ConnectionCompleteness, { time }: ShownValues): string[] {
  return reading.interruptions.map(({ from, to, cause }) => {
    const why = cause === null ? 'Backstop did not run, or read a long list' : withoutFullStop(cause)
    return to === null
      ? `Since ${time(from)} the account has not been read: ${why}.`
      : `From ${time(from)} to ${time(to)} the account was not read: ${why}. It was caught up at ${time(to)}.`
  })
}

function withoutFullStop(text: string): string {
  return text.replace(/\.$/, '')
}

/** What cannot be known, each as a sentence. */
export function limitWords(one: ConnectionCompleteness, { time }: ShownValues): string[] {
  const words: Record<CompletenessLimit, string> = {
    no_read_key:
      'Without a read key nobody can know whether a notification was lost. With one, Backstop reads all changes since the account was connected.',
    not_read_for_thirty_days:
      'A provider lists cancellations and later changes of refunds for only 30 days. Older ones of the long interruption may be missing.',
    connected_later: `The account was connected at ${time(one.watched_from)}. Earlier changes are not judged.`,
    deleted_earlier: `The connection was deleted, so nothing after ${time(one.watched_to)} is judged.`,
    reading_not_recorded:
      one.reading.recorded_from === null
        ? 'Interruptions of reading are not recorded for this period.'
        : `Interruptions of reading before ${time(one.reading.recorded_from)} are not recorded.`,
    found_by_reading_not_recorded:
      'An earlier version counted days of this period, and did not record which changes were found only by reading.',
    connected_accounts:
      'Only the own changes of the account are listed. If it is a platform, its connected accounts are read only when a notification names them.',
  }
  return one.limits.map(limit => words[limit])
}

/** The outages of Backstop, each as a sentence. Nothing is said about the part of the period before the first heartbeat and after the last. */
export function outageWords(
  { outages, ...period }: Pick<Completeness, 'outages' | 'from' | 'to'>,
  { time }: ShownValues,
): string[] {
  if (outages === null) return ['Outages of Backstop are not recorded, because no heartbeat came back yet.']
  const { recorded_from, recorded_until, found } = outages
  // Times of one form are in the order of their texts.
  const [, from = period.from] = [recorded_from, period.from].sort()
  const [to = period.to] = [recorded_until, period.to].sort()
  const isRecorded = from < to
  const each = found.map(({ from, to }) =>
    to === null
      ? `Since ${time(from)} Backstop or a part of it does not work.`
      : `From ${time(from)} to ${time(to)} Backstop or a part of it did not work. Alerts of this time were delivered later.`,
  )
  if (each.length > 0) return isRecorded ? [...each, `Outages are recorded from ${time(from)} to ${time(to)}.`] : each
  return [
    isRecorded
      ? `No outage of Backstop from ${time(from)} to ${time(to)}.`
      : 'Outages of Backstop are not recorded for this period.',
  ]
}
