import { type Action, type Alert, type ChannelKind, formatMoney, movedNoMoney } from '@backstop/contracts'
import type { AlertDescription, NextStep } from './alert-description.ts'
import { describeAlert } from './describe-alert.ts'
import type { Reader } from './times.ts'
import { toOneLine } from './wording.ts'

/** If more than `above` alerts wait, one message reports up to `most` of them: as many one-line entries fit into a Slack message. */
export const DIGEST_LIMITS = { above: 20, most: 100 } as const

const KINDS_WITH_DIGESTS: ReadonlySet<ChannelKind> = new Set(['slack', 'email'])

/** True if a channel of this kind may get several alerts in one message. */
export function hasDigests(kind: ChannelKind): boolean {
  return KINDS_WITH_DIGESTS.has(kind)
}

/** Several alerts in words, from which the digests of Slack and mail are built. */
export interface DigestDescription {
  readonly title: string
  /** Counts and sums, storms and unexplained actions first: "12 unexplained refunds, EUR 1,490.00 in total". */
  readonly sums: readonly string[]
  /** One entry for each incident, storm, operation, budget or run, the largest amounts of each currency first. */
  readonly entries: readonly DigestEntry[]
  readonly next: NextStep
  readonly tone: AlertDescription['tone']
}

/** The entry of one alert. The names distinguish alerts with the same title for people; null if the title has all names. */
export interface DigestEntry extends Pick<AlertDescription, 'title' | 'path' | 'reference'> {
  readonly names: string | null
}

/** What distinguishes an entry. An entry without a link has the id too, by which people can look for it. */
export function distinguish({ names, reference }: DigestEntry, hasLink: boolean): string {
  if (names === null) return reference
  return hasLink ? names : `${names} · ${reference}`
}

/** Currencies are limited, so that the sums never fill a message. */
const MOST_SUMS = 10

/** @param alerts in the order in which they were raised */
export function describeDigest(alerts: readonly Alert[], reader: Reader): DigestDescription {
  const newest = bySize(newestOfEach(alerts, reader))
  const described = newest.map(alert => ({ ...describeAlert(alert, reader), names: namesOf(alert) }))
  const sums = sumsOf(newest)
  const isAlarm = described.some(({ tone }) => tone === 'alarm')
  return {
    title: `${alerts.length} alerts in one message`,
    sums: sums.length > MOST_SUMS ? [...sums.slice(0, MOST_SUMS - 1), 'More kinds and currencies, listed below'] : sums,
    entries: described.map(({ title, path, reference, names }) => ({ title, path, reference, names })),
    next: { sentence: 'Begin at the top: the largest amounts come first.', steps: [] },
    tone: isAlarm ? 'alarm' : 'neutral',
  }
}

/** The newest alert of each reference. It says so if the incident was opened in this digest, too. */
function newestOfEach(alerts: readonly Alert[], reader: Reader): Alert[] {
  const groups = Map.groupBy(alerts, alert => describeAlert(alert, reader).reference)
  return [...groups.values()].flatMap((group: Alert[]): Alert[] => {
    const [opening, newest] = [group.find(({ event }) => event === 'incident.opened'), group.at(-1)]
    if (newest === undefined) return []
    if (newest.event !== 'incident.acknowledged' && newest.event !== 'incident.resolved') return [newest]
    if (opening === undefined) return [newest]
    return [{ ...newest, data: { ...newest.data, supersedes: opening.alert_id } }]
  })
}

/** The largest amounts first. Amounts of different currencies are not compared: the currency of most alerts comes first. */
function bySize(alerts: readonly Alert[]): Alert[] {
  const rows = alerts.map(alert => ({ alert, money: moneyOf(alert) }))
  const currencies = Map.groupBy(rows, ({ money }) => money?.currency ?? null)
  return rows
    .toSorted(
      ({ money: a }, { money: b }) =>
        Number(a === null) - Number(b === null) ||
        (currencies.get(b?.currency ?? null)?.length ?? 0) - (currencies.get(a?.currency ?? null)?.length ?? 0) ||
        (a?.currency ?? '').localeCompare(b?.currency ?? '') ||
        (b?.amount ?? 0) - (a?.amount ?? 0),
    )
    .map(({ alert }) => alert)
}

/** The money of an alert, of a storm or burst in the currency of most actions; null if it has none. */
function moneyOf({ data }: Alert): { readonly currency: string; readonly amount: number } | null {
  if ('storm' in data) return data.storm.money[0] ?? null
  if ('incident' in data && data.incident.burst !== undefined) return data.incident.burst.money[0] ?? null
  const about = ('action' in data && data.action) || ('operation' in data && !('budget' in data) && data.operation)
  if (!about || about.amount === null || about.currency === null) return null
  return { currency: about.currency, amount: about.amount }
}

/** The names in an alert that its title does not have; null if there are none. */
function namesOf(alert: Alert): string | null {
  switch (alert.event) {
    case 'incident.opened':
    case 'incident.acknowledged':
    case 'incident.resolved':
    case 'drift.detected':
      return alert.data.action === null ? (alert.data.names?.project ?? null) : nameSubject(alert.data.action)
    case 'approval.requested':
    case 'approval.reminder':
    case 'approval.expired':
      return alert.data.operation.subject
    case 'storm.reported':
      return alert.data.names?.project ?? null
    case 'cap.threshold':
      return alert.data.names?.project ?? null
    case 'run.failed':
    case 'channel.test':
      return null
    default:
      return alert satisfies never
  }
}

function nameSubject({ payment, subject }: Action): string {
  return toOneLine(payment?.number ?? subject)
}

interface Sum {
  readonly name: string
  readonly currency: string | null
  count: number
  amount: number
}

/** Money of different currencies, and test money, is never added up. */
function sumsOf(alerts: readonly Alert[]): string[] {
  const sums = new Map<string, Sum>()
  for (const alert of alerts) {
    const facts = sumFactsOf(alert)
    const key = `${facts.name}/${facts.currency}`
    const sum = sums.get(key) ?? { name: facts.name, currency: facts.currency, count: 0, amount: 0 }
    sums.set(key, { ...sum, count: sum.count + 1, amount: sum.amount + facts.amount })
  }
  const unexplainedFirst = ({ name }: Sum) => (/^(unexplained|second|storm)/.test(name) ? 0 : 1)
  return [...sums.values()]
    .toSorted((a, b) => unexplainedFirst(a) - unexplainedFirst(b) || b.count - a.count)
    .map(textOf)
}

function textOf({ name, currency, count, amount }: Sum): string {
  const money = formatMoney(amount, currency)
  const counted = count === 1 ? `1 ${name}` : `${count} ${plural(name)}`
  return money === null ? counted : count === 1 ? `${counted}, ${money}` : `${counted}, ${money} in total`
}

function plural(name: string): string {
  const [noun, rest] = [name.replace(/ \(.*/, ''), / \(.*/.exec(name)?.[0] ?? '']
  return `${noun}s${rest}`
}

/** An action that moved no money is counted with the other alerts. */
function sumFactsOf(alert: Alert): { name: string; currency: string | null; amount: number } {
  // The sums of a storm are in its entry. Here they would be counted again with each report.
  if (alert.event === 'storm.reported') return { name: 'storm report', currency: null, amount: 0 }
  if (alert.event === 'incident.acknowledged') return { name: 'acknowledged incident', currency: null, amount: 0 }
  if (alert.event === 'incident.resolved') return { name: 'resolved incident', currency: null, amount: 0 }
  const code = alert.event === 'incident.opened' ? alert.data.incident.code : null
  const isRepeat = code === 'REFUNDED_TWICE'
  const action =
    alert.event === 'incident.opened' && (isRepeat || code === 'UNEXPECTED_ACTION') ? alert.data.action : null
  if (action === null || movedNoMoney(action.state)) return { name: 'other alert', currency: null, amount: 0 }
  const test = action.mode === 'test' ? ' (test mode)' : ''
  return {
    name: `${isRepeat ? 'second' : 'unexplained'} ${action.kind.replaceAll('_', ' ')}${test}`,
    currency: action.amount === null ? null : action.currency,
    amount: action.amount ?? 0,
  }
}
