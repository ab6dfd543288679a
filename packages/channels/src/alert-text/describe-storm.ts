import { type Alert, formatMoney, type Storm } from '@backstop/contracts'
import type { AlertTexts } from './alert-description.ts'
import { nameMode, providerUrlOf } from './describe-action.ts'
import { nextStepsOfStorm } from './next-steps.ts'
import { describeOrigin, factOfOrigin } from './origin-text.ts'
import {
  capitalise,
  type FactRow,
  factsIn,
  formatTime,
  listIds,
  nameAccount,
  nounOfSubject,
  toOneLine,
} from './wording.ts'

type StormAlert = Extract<Alert, { event: 'storm.reported' }>

/** Describes many unexplained actions of one connection, or of one of its connected accounts, in one message. */
export function describeStorm({ data: { storm, names } }: StormAlert): AlertTexts {
  const actions = nameActions(storm)
  const where = describePlace(storm, toOneLine(names?.connection ?? storm.connection_id))
  const { subject, customer } = storm.common
  return {
    title: `${storm.mode === 'test' ? '[Test mode] ' : ''}${TITLE_STARTS[stageOf(storm)]}${actions} on ${where}${sumOf(storm)}`,
    summary: [sentenceOfStage(storm, actions), ...sentenceWithoutMoney(storm), sentenceOfOrigin(storm)].join(' '),
    facts: factsIn([
      ...moneyRows(storm),
      ['Customers', customersOf(storm)],
      ['Rate', rateOf(storm)],
      ['Mode', nameMode(storm.mode)],
      ['How', originFact(storm)],
      ['In common', commonFacts(storm)],
      [
        'Explained since',
        storm.explained > 0 || stageOf(storm) === 'ended'
          ? `${formatCount(storm.explained)} of ${formatCount(storm.count)}`
          : null,
      ],
      ['When', `${formatTime(storm.first_at)} to ${formatTime(storm.last_at)}`],
      ['Account', nameAccount(storm.provider, names, storm.connection_id)],
      ['Connected account', storm.account === undefined ? null : toOneLine(storm.account)],
    ]),
    next: nextStepsOfStorm(storm),
    tone: storm.count === storm.resolved ? 'relief' : 'alarm',
    providerUrl: providerUrlOf(storm),
    reference: storm.storm_id,
    ids: listIds({
      storm: storm.storm_id,
      connection: storm.connection_id,
      [nounOfSubject(storm.kinds[0]?.kind ?? 'refund')]: subject?.value,
      customer: customer?.value.id,
      account: storm.account,
    }),
  }
}

/** Titles of storms on several accounts must differ, because people see only them at first. */
function describePlace({ account, accounts }: Storm, connection: string): string {
  if (accounts !== undefined) return `${countedNoun(accounts, 'account')} of "${connection}"`
  return account === undefined ? `"${connection}"` : `the account ${toOneLine(account)} of "${connection}"`
}

const TITLE_STARTS = { began: '', continues: 'Update: ', acknowledged: 'Acknowledged: ', ended: 'Ended: ' } as const

function stageOf({ cause, state, report }: Storm): keyof typeof TITLE_STARTS {
  if (cause === 'acknowledged') return 'acknowledged'
  if (state === 'ended') return 'ended'
  return report === 1 ? 'began' : 'continues'
}

function nameActions({ count, kinds }: Storm): string {
  const [only] = kinds
  return countedNoun(count, `unexplained ${kinds.length === 1 && only !== undefined ? only.kind : 'action'}`)
}

/** The sums for the headline: of the two currencies of most actions. Test money is left out if there is other money. */
function sumOf(storm: Storm): string {
  const real = storm.money.filter(({ mode }) => mode !== 'test')
  const money = real.length === 0 ? storm.money : real
  const sums = money.slice(0, 2).map(({ currency, amount }) => formatMoney(amount, currency))
  if (sums.length === 0) return ''
  return `, ${money.length > 2 ? `${sums.join(', ')} and more currencies` : sums.join(' and ')} in total`
}

function sentenceOfStage(storm: Storm, actions: string): string {
  const stage = stageOf(storm)
  switch (stage) {
    case 'began':
      return `${actions} were made ${durationOf(storm)}, but neither your software nor your team reported them. From now on you get a few summaries instead of a message for each.`
    case 'continues':
      return `${actions} were made ${durationOf(storm)}, the last one at ${formatTime(storm.last_at)}.`
    case 'acknowledged':
      return `Every incident of these ${actions} that is still open has been acknowledged. The actions were made ${durationOf(storm)}, the last one at ${formatTime(storm.last_at)}.`
    case 'ended':
      return `It is over for now: the last one was made at ${formatTime(storm.last_at)}. In total ${actions} were made ${durationOf(storm)}, and ${endOf(storm)}.`
    default:
      return stage satisfies never
  }
}

function endOf({ count, explained }: Storm): string {
  if (explained === 0) return 'none has been explained since'
  if (explained === count) return 'all have been explained since'
  return `${formatCount(explained)} of them ${explained === 1 ? 'has' : 'have'} been explained since`
}

/** Tells that the sums are of fewer actions; empty if they are of all. */
function sentenceWithoutMoney({ count, without_money: without = 0 }: Storm): string[] {
  if (without === 0) return []
  const which = without === count ? (count === 1 ? 'It' : 'All') : `${formatCount(without)} of them`
  return [`${which} failed or ${without === 1 ? 'was' : 'were'} canceled: no money moved.`]
}

function sentenceOfOrigin(storm: Storm): string {
  const origin = originOf(storm)
  if (origin === undefined) return 'The provider does not say how or by whom.'
  return `${capitalise(shareOf(origin.count, storm))} were made ${describeOrigin(origin.made)}.`
}

function originFact(storm: Storm): string {
  const origin = originOf(storm)
  if (origin === undefined) return 'The provider does not say how or by whom'
  return `${factOfOrigin(origin.made)} (${shareOf(origin.count, storm)})`
}

/** The origin that most actions share, and how many share it; undefined if the provider reports none. */
function originOf({ provider, common: { channel, key_name, user } }: Storm) {
  const closest = key_name ?? user ?? channel
  if (closest === null) return undefined
  const origin = {
    channel: channel?.value ?? null,
    key_name: key_name?.value ?? null,
    user: user?.count === closest.count ? user.value : null,
  }
  return { made: { provider, origin }, count: closest.count }
}

function moneyRows(storm: Storm): FactRow[] {
  const { money, count, kinds } = storm
  const modeOf = modesOf(storm)
  const several = money.length > 1 || money.some(sum => sum.count !== count)
  const sums = money.map(sum => {
    const parts = [...modeOf(sum), countedNoun(sum.count, 'action')]
    return `${formatMoney(sum.amount, sum.currency)}${several ? ` (${parts.join(', ')})` : ''}`
  })
  const largest = money.map(sum => formatMoney(sum.largest, sum.currency))
  return [
    ['What', kinds.length === 1 ? null : kinds.map(({ count, kind }) => countedNoun(count, kind)).join(', ')],
    ['Money', money.length === 0 ? null : sums.join(', ')],
    ['Largest', money.length === 0 ? null : largest.join(', ')],
  ]
}

const MODES = { test: 'test mode', live: 'live' } as const

/** The mode of a sum, if the sums of the report differ in their modes. */
function modesOf({ money, mode }: Storm) {
  return (sum: Storm['money'][number]): string[] => {
    const differ = mode === null && money.some(other => other.mode !== sum.mode)
    return differ ? [sum.mode == null ? 'mode unknown' : MODES[sum.mode]] : []
  }
}

/** A report counts no further; see `customers` of `Storm`. */
const MAX_COUNTED_CUSTOMERS = 10_000

/** The name and e-mail address are absent in channels that do not show personal data. */
function customersOf(storm: Storm): string {
  const { customer } = storm.common
  if (customer === null) {
    if (storm.customers === 0) return 'The provider does not say'
    if (storm.customers === 1) return '1 customer'
    const limit = storm.customers >= MAX_COUNTED_CUSTOMERS ? 'At least ' : ''
    return `${limit}${formatCount(storm.customers)} different customers`
  }
  const { id, name, email } = customer.value
  const parts = [name, email].filter(part => part !== null)
  return `${toOneLine(parts.length > 0 ? parts.join(', ') : (id ?? 'One customer'))} (${shareOf(customer.count, storm)})`
}

/** The facts that most actions share, besides their origin and customer; null if there are none. */
function commonFacts(storm: Storm): string | null {
  const { subject, amount, refund_reason: reason } = storm.common
  const noun = nounOfSubject(storm.kinds[0]?.kind ?? 'refund')
  const facts = [
    subject && `the ${noun} ${toOneLine(subject.value)} (${shareOf(subject.count, storm)})`,
    amount && `the amount ${formatMoney(amount.value, amount.currency)} (${shareOf(amount.count, storm)})`,
    reason && `the reason "${toOneLine(reason.value).replaceAll('_', ' ')}" (${shareOf(reason.count, storm)})`,
  ].filter(fact => fact !== null)
  return facts.length === 0 ? null : capitalise(facts.join(', '))
}

function shareOf(count: number, storm: Storm): string {
  if (count === storm.count) return count === 2 ? 'both' : `all ${formatCount(count)}`
  return `${formatCount(count)} of ${formatCount(storm.count)}`
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

function durationOf({ first_at, last_at }: Storm): string {
  const durationMs = Date.parse(last_at) - Date.parse(first_at)
  if (durationMs < SECOND_MS) return 'within a second'
  if (durationMs < 2 * MINUTE_MS) return `within ${about(durationMs / SECOND_MS, 'second')}`
  if (durationMs < 2 * HOUR_MS) return `within ${about(durationMs / MINUTE_MS, 'minute')}`
  return `within ${about(durationMs / HOUR_MS, 'hour')}`
}

function rateOf(storm: Storm): string {
  if (Date.parse(storm.last_at) - Date.parse(storm.first_at) < MINUTE_MS) {
    return `${formatCount(storm.count)} ${durationOf(storm)}`
  }
  return `About ${formatCount(Math.max(1, Math.round(storm.per_minute)))} a minute`
}

function about(value: number, unit: string): string {
  return countedNoun(Math.max(1, Math.round(value)), unit)
}

/** `1 refund`, `1,200 refunds` */
function countedNoun(count: number, noun: string): string {
  return `${formatCount(count)} ${noun.replaceAll('_', ' ')}${count === 1 ? '' : 's'}`
}

const counts = new Intl.NumberFormat('en-GB')

function formatCount(count: number): string {
  return counts.format(count)
}
