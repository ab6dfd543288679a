import {
  type Action,
  actorKindOf,
  type Burst,
  type CountedValue,
  containsEmailAddress,
  deterministicId,
  formatMoney,
  isoTime,
  isPersonalDetail,
  kindWords,
  movedNoMoney,
  type Names,
  type StoredIncident,
  ValueCounter,
  withoutItem,
} from '@backstop/contracts'
import { BURST_MIN, type UnusualNumber } from './burst-rule.ts'
import { type IncidentChange, openStandalone, resolveStandalone } from './standalone.ts'

/** The fields of an action that the incident counts. */
export type BurstAction = Pick<
  Action,
  | 'provider'
  | 'kind'
  | 'amount'
  | 'currency'
  | 'state'
  | 'mode'
  | 'origin'
  | 'actor_id'
  | 'account'
  | 'subject'
  | 'payment'
  | 'first_seen_at'
  | 'second_look_at'
>

/** A burst as it is stored, which determines its incident. */
export interface ReportedBurst {
  readonly connectionId: string
  readonly projectId: string
  readonly openedAt: number
  readonly burst: Burst
}

const MIN_SPAN_MS = 10_000
const MINUTE_MS = 60_000
/** How long after the last second look was due the incident is resolved in any case. */
const LOOKS_TAKE_MS = 5 * MINUTE_MS

/** Adds up the actions of a burst. @param actions all that wait for their second look */
export function describeBurst(actions: readonly [BurstAction, ...BurstAction[]], why: UnusualNumber): Burst {
  const seen = actions.map(({ first_seen_at }) => first_seen_at).toSorted()
  const looks = actions.flatMap(({ second_look_at }) => second_look_at ?? []).toSorted()
  const [first = '', last = ''] = [seen[0], seen.at(-1)]
  const spanMs = Math.max(MIN_SPAN_MS, Date.parse(last) - Date.parse(first))
  return {
    provider: actions[0].provider,
    ...accountsOf(actions),
    count: actions.length,
    first_at: first,
    last_at: last,
    per_minute: Math.round((actions.length * MINUTE_MS * 10) / spanMs) / 10,
    kinds: [...Map.groupBy(actions, ({ kind }) => kind)]
      .map(([kind, same]) => ({ kind, count: same.length }))
      .sort((a, b) => b.count - a.count),
    money: sumsOf(actions),
    looks_at: looks[0] ?? last,
    last_look_at: looks.at(-1) ?? last,
    common: commonOf(actions),
    why: {
      rule: ruleOf(why),
      usual_wait_ms: why.ageMs,
      usual_late_per_minute: why.usual,
      late: why.late,
      threshold: why.threshold,
    },
  }
}

function ruleOf({ ageMs, late, usual, threshold }: UnusualNumber): string {
  const since = ageMs === 0 ? 'are unexplained' : `have been unexplained for at least ${ageMs / 1000} s`
  const isUsual = usual === 0 ? 'None is usual here' : `At most ${usual} are usual here`
  return `${late} actions ${since}. ${isUsual}; ${threshold} give the alarm`
}

/** The connected account of all actions, or the number of accounts; nothing if the connection's own account made all. */
function accountsOf(actions: readonly BurstAction[]): Pick<Burst, 'account' | 'accounts'> {
  const [first, ...others] = new Set(actions.map(({ account }) => account))
  if (others.length === 0) return first === undefined ? {} : { account: first }
  return { accounts: others.length + (first === undefined ? 0 : 1) - (others.includes(undefined) ? 1 : 0) }
}

function sumsOf(actions: readonly BurstAction[]): Burst['money'] {
  const sums = new Map<string, Burst['money'][number]>()
  for (const { amount, currency, mode = null, state } of actions) {
    if (amount === null || currency === null || movedNoMoney(state)) continue
    const key = `${currency} ${mode}`
    const { amount: sum, count } = sums.get(key) ?? { amount: 0, count: 0 }
    sums.set(key, { currency, mode, amount: sum + amount, count: count + 1 })
  }
  const isTest = ({ mode }: Burst['money'][number]) => Number(mode === 'test')
  return [...sums.values()].sort((a, b) => isTest(a) - isTest(b) || b.count - a.count)
}

/** The value, unless it is personal data. */
function impersonal(
  provider: BurstAction['provider'],
  name: 'origin.key_name' | 'payment.refund_reason',
  value: string | null | undefined,
): string | null {
  return value == null || isPersonalDetail(provider, name, value) ? null : value
}

function commonOf(actions: readonly BurstAction[]): NonNullable<Burst['common']> {
  const most = <Value extends string>(read: (action: BurstAction) => Value | null | undefined) =>
    mostCommon(actions, read)
  const actor = most(({ actor_id }) => actor_id)
  const amount = most(({ amount, currency }) => (amount === null || currency === null ? null : `${amount} ${currency}`))
  return {
    channel: withoutItem(most(({ origin }) => origin?.channel)),
    key_name: withoutItem(most(({ provider, origin }) => impersonal(provider, 'origin.key_name', origin?.key_name))),
    // The name is added when somebody reads it, because incidents store no personal data.
    actor: actor && { value: actor.value, kind: actorKindOf(actor.first.origin), count: actor.count },
    user: null,
    customer: null,
    subject: withoutItem(most(({ subject }) => (containsEmailAddress(subject) ? null : subject))),
    amount: amount && { value: amount.first.amount ?? 0, currency: amount.first.currency ?? '', count: amount.count },
    refund_reason: withoutItem(
      most(({ provider, payment }) => impersonal(provider, 'payment.refund_reason', payment?.refund_reason)),
    ),
  }
}

function mostCommon<Value extends string>(
  actions: readonly BurstAction[],
  read: (action: BurstAction) => Value | null | undefined,
): CountedValue<Value, BurstAction> | null {
  const counter = new ValueCounter<Value, BurstAction>()
  for (const action of actions) counter.add(read(action), action)
  return counter.most(actions.length)
}

/** The incident of a burst. Opening it twice gives the same incident. */
export function openBurstIncident({ connectionId, projectId, openedAt, burst }: ReportedBurst, names: Names) {
  const about = {
    incident_id: deterministicId('incident', connectionId, 'UNEXPLAINED_BURST', burst.first_at),
    storm_id: deterministicId('storm', connectionId, 'UNEXPLAINED_BURST', burst.first_at),
    project_id: projectId,
    connection_id: connectionId,
    code: 'UNEXPLAINED_BURST' as const,
    summary: `Connection "${names.connection}": ${summaryOf(burst)}`,
    opened_at: isoTime(openedAt),
    burst,
  }
  return openStandalone(about, openedAt, names)
}

function summaryOf({ count, kinds, money, first_at, last_at }: Burst): string {
  const only = kinds.length === 1 ? kinds[0]?.kind : undefined
  const what = only === undefined ? 'action' : kindWords({ kind: only })
  const sums = money
    .map(({ amount, currency, mode }) => `${formatMoney(amount, currency)}${mode === 'test' ? ' of test money' : ''}`)
    .join(' and ')
  const seconds = Math.max(1, Math.round((Date.parse(last_at) - Date.parse(first_at)) / 1000))
  const within = `${count} ${what}${count === 1 ? '' : 's'} within ${seconds} s that nothing explains so far`
  return `${within}${sums === '' ? '' : `, ${sums} in total`}`
}

/** What became of the actions of a burst. */
export interface BurstOutcomes {
  /** Those whose second look opened an incident, explained since or not. */
  readonly unexplained: number
  readonly pending: number
}

export type BurstEnd =
  | { readonly kind: 'waits' }
  | { readonly kind: 'ended'; readonly outcome?: NonNullable<Burst['outcome']>; readonly text: string }

/** Whether a burst has ended, and how. It ends in any case five minutes after the last second look was due. */
export function judgeBurstEnd(
  { count, last_look_at }: Burst,
  { unexplained, pending }: BurstOutcomes,
  now: number,
): BurstEnd {
  if (unexplained >= Math.min(BURST_MIN, Math.ceil(count / 2))) {
    const text = `The second looks found no explanation for ${unexplained} of ${count} actions, and opened an incident for each`
    return { kind: 'ended', outcome: 'confirmed', text }
  }
  if (pending === 0) {
    const explained = Math.max(0, count - unexplained)
    const text = `${explained} of ${count} actions were explained or need no explanation`
    return { kind: 'ended', outcome: 'explained', text }
  }
  if (now < Date.parse(last_look_at) + LOOKS_TAKE_MS) return { kind: 'waits' }
  return {
    kind: 'ended',
    text: `The second looks of ${pending} of ${count} actions are late; each of them alerts by itself`,
  }
}

/**
 * Resolves the incident of a burst. A confirmed one alerts nobody, because its actions continue as the storm.
 * @returns undefined if it is resolved already
 */
export function resolveBurstIncident(
  known: StoredIncident,
  { outcome, text }: Extract<BurstEnd, { kind: 'ended' }>,
  names: Names,
  now: number,
): IncidentChange | undefined {
  if (known.state === 'resolved' || known.burst === undefined) return undefined
  const ended = outcome === undefined ? known : { ...known, burst: { ...known.burst, outcome } }
  const event = outcome === 'confirmed' ? null : 'incident.resolved'
  return resolveStandalone({ ...ended, resolution: text }, text, isoTime(now), now, names, event)
}
