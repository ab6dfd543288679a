/** What the messages about many actions of one connection share: those about a storm, and those about a burst. */
import { type Burst, formatMoney, NOTHING_IN_COMMON, type Storm } from '@backstop/contracts'
import { describeActor, describeOrigin } from './origin-text.ts'
import { capitalise, type FactRow, nounOfSubject, toOneLine } from './wording.ts'

type SharedFields =
  | 'provider'
  | 'account'
  | 'accounts'
  | 'count'
  | 'first_at'
  | 'last_at'
  | 'per_minute'
  | 'kinds'
  | 'mode'
  | 'common'

/** Many actions of one connection, or of its connected accounts. */
export interface Many extends Pick<Storm, SharedFields> {
  readonly money: Burst['money']
}

/** The actions of a burst. */
export function manyOf(burst: Burst): Many {
  const modes = new Set(burst.money.map(({ mode = null }) => mode))
  const [mode = null] = modes.size === 1 ? modes : []
  return { ...burst, mode, common: burst.common ?? NOTHING_IN_COMMON }
}

/** `12 refunds`, or `12 actions` if they differ in their kinds. @param adjective before the noun, with a space after it */
export function nameActions({ count, kinds }: Many, adjective = ''): string {
  const [only] = kinds
  return countedNoun(count, `${adjective}${kinds.length === 1 && only !== undefined ? only.kind : 'action'}`)
}

/** Titles of storms and bursts on several accounts must differ, because people see only them at first. */
export function describePlace({ account, accounts }: Many, connection: string): string {
  if (accounts !== undefined) return `${countedNoun(accounts, 'account')} of "${connection}"`
  return account === undefined ? `"${connection}"` : `the account ${toOneLine(account)} of "${connection}"`
}

const TITLE_SUMS = 2

/** The sums for the headline: of the two currencies of most actions. Test money is left out if there is other money. */
export function sumOf(many: Many): string {
  const real = many.money.filter(({ mode }) => mode !== 'test')
  const money = real.length === 0 ? many.money : real
  const sums = money.slice(0, TITLE_SUMS).map(({ currency, amount }) => formatMoney(amount, currency))
  if (sums.length === 0) return ''
  return `, ${money.length > TITLE_SUMS ? `${sums.join(', ')} and more currencies` : sums.join(' and ')}`
}

export function sentenceOfOrigin(many: Many): string {
  const origin = originOf(many)
  if (origin === undefined) return 'The provider does not say how or by whom.'
  return `${capitalise(shareOf(origin.count, many))} ${wasOrWere(many.count)} made ${origin.text}.`
}

/** The origin that most actions share, as part of a sentence, and how many share it; undefined if the provider reports none. */
function originOf({ count, provider, common: { channel, key_name, user, actor } }: Many) {
  if (actor?.name !== undefined) {
    const named = actor.kind === 'api_key' ? key_name : actor.kind === 'dashboard_user' ? user : null
    // An actor has one key or user. More than all actions together: some action has both.
    const label = named !== null && named.count + actor.count > count ? named.value : null
    return { text: describeActor(actor.name, actor.kind, label), count: actor.count }
  }
  const closest = key_name ?? user ?? channel
  if (closest === null) return undefined
  const origin = {
    channel: channel?.value ?? null,
    key_name: key_name?.value ?? null,
    user: user?.count === closest.count ? user.value : null,
  }
  return { text: describeOrigin({ provider, origin }), count: closest.count }
}

function moneyRows(many: Many): FactRow[] {
  const { money, count, kinds, mode } = many
  const modeOf = modesOf(many)
  const several = money.length > 1 || money.some(sum => sum.count !== count)
  const sums = money.map(sum => {
    const parts = [...modeOf(sum), countedNoun(sum.count, 'action')]
    return `${formatMoney(sum.amount, sum.currency)}${several ? ` (${parts.join(', ')})` : ''}`
  })
  return [
    ['What', kinds.length === 1 ? null : kinds.map(({ count, kind }) => countedNoun(count, kind)).join(', ')],
    // The title has the sums of two currencies, and not their modes.
    ['Money', money.length > TITLE_SUMS || (money.length > 0 && mode === null) ? sums.join(', ') : null],
  ]
}

const MODES = { test: 'test mode', live: 'live' } as const

/** The mode of a sum, if the sums of the report differ in their modes. */
function modesOf({ money, mode }: Many) {
  return (sum: Many['money'][number]): string[] => {
    const differ = mode === null && money.some(other => other.mode !== sum.mode)
    return differ ? [sum.mode == null ? 'mode unknown' : MODES[sum.mode]] : []
  }
}

/** The facts that a message about a storm and one about a burst show alike. @param customers how many or which */
export function sharedFacts(many: Many, customers: string | null): FactRow[] {
  return [...moneyRows(many), ['Customers', customers], ['In common', commonFacts(many)]]
}

/** The customer of most actions; null if they differ. Name and e-mail address are absent in channels that do not show personal data. */
export function commonCustomer(many: Many): string | null {
  const { customer } = many.common
  if (customer === null) return null
  const { id, name, email } = customer.value
  const parts = [name, email].filter(part => part !== null)
  return withShare(toOneLine(parts.length > 0 ? parts.join(', ') : (id ?? 'One customer')), customer.count, many)
}

/** The fact that most actions share, besides their origin and customer; null if there is none. */
function commonFacts(many: Many): string | null {
  const { subject, amount, refund_reason: reason } = many.common
  const noun = nounOfSubject(many.kinds[0]?.kind ?? 'refund')
  const facts = [
    subject && withShare(`the ${noun} ${toOneLine(subject.value)}`, subject.count, many),
    amount && withShare(formatMoney(amount.value, amount.currency) ?? '', amount.count, many),
    reason && withShare(`the reason "${toOneLine(reason.value).replaceAll('_', ' ')}"`, reason.count, many),
  ].filter(fact => fact !== null)
  return facts[0] === undefined ? null : capitalise(facts[0])
}

function withShare(text: string, count: number, many: Many): string {
  return many.count === 1 ? text : `${text} (${shareOf(count, many)})`
}

function shareOf(count: number, many: Many): string {
  if (many.count === 1) return 'it'
  if (count === many.count) return count === 2 ? 'both' : `all ${formatCount(count)}`
  return `${formatCount(count)} of ${formatCount(many.count)}`
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

export function durationOf({ first_at, last_at }: Pick<Many, 'first_at' | 'last_at'>): string {
  const durationMs = Date.parse(last_at) - Date.parse(first_at)
  if (durationMs < SECOND_MS) return 'within a second'
  if (durationMs < 2 * MINUTE_MS) return `within ${about(durationMs / SECOND_MS, 'second')}`
  if (durationMs < 2 * HOUR_MS) return `within ${about(durationMs / MINUTE_MS, 'minute')}`
  return `within ${about(durationMs / HOUR_MS, 'hour')}`
}

function about(value: number, unit: string): string {
  return countedNoun(Math.max(1, Math.round(value)), unit)
}

export function wasOrWere(count: number): 'was' | 'were' {
  return count === 1 ? 'was' : 'were'
}

/** `1 refund`, `1,200 refunds` */
function countedNoun(count: number, noun: string): string {
  return `${formatCount(count)} ${noun.replaceAll('_', ' ')}${count === 1 ? '' : 's'}`
}

const counts = new Intl.NumberFormat('en-GB')

export function formatCount(count: number): string {
  return counts.format(count)
}
