import {
  type CountedValue,
  isoTime,
  movedNoMoney,
  type OriginChannel,
  type RecordKind,
  type Storm,
  type StormCommonFacts,
  type StormMemberDocument,
  ValueCounter,
  withoutItem,
} from '@backstop/contracts'

/** The fields of a member that a report needs. */
export type CountedMember = Pick<
  StormMemberDocument,
  | 'action_id'
  | 'account'
  | 'kind'
  | 'opened_at'
  | 'amount'
  | 'currency'
  | 'state'
  | 'subject'
  | 'facts'
  | 'acknowledged_at'
  | 'resolved_at'
  | 'explained'
>

/** A value, how many actions have it, and the id of the first. */
type CountedFact = CountedValue<string, string>

export interface StormTotals {
  /** The fields of the report that the members determine. */
  readonly counted: Pick<
    Storm,
    | 'first_at'
    | 'last_at'
    | 'count'
    | 'explained'
    | 'resolved'
    | 'per_minute'
    | 'kinds'
    | 'money'
    | 'without_money'
    | 'mode'
    | 'customers'
  > & { readonly unacknowledged: number }
  /** Number of incidents. An action may have several, one after the other. */
  readonly incidents: number
  readonly common: Omit<StormCommonFacts, 'customer' | 'user' | 'actor'>
  /** The id of the customer. The name is read from the action, because members store no personal data. */
  readonly customer: CountedFact | null
  /** The fingerprint of the user. The user is read from the action. */
  readonly user: CountedFact | null
  /** The id of the actor. Its kind is read from the action, until the action is erased. */
  readonly actor: CountedFact | null
  /** Number of different connected accounts. */
  readonly accounts: number
  /** The largest action in the first currency of `money`. */
  readonly largestActionId: string
}

type Money = Storm['money'][number] & { readonly largestActionId: string }

const MINUTE_MS = 60_000

/**
 * Adds up the actions of a storm one by one, so that a storm of any size needs little memory. An action with several incidents counts once,
 * with the facts of its newest incident.
 */
export class StormCounter {
  #incidents = 0
  /** The incidents of the action that is not counted yet. */
  #open: CountedMember[] = []
  #count = 0
  #explained = 0
  #resolved = 0
  #unacknowledged = 0
  #firstMs = Number.POSITIVE_INFINITY
  #lastMs = Number.NEGATIVE_INFINITY
  #firstActionId = ''
  readonly #kinds = new ValueCounter<RecordKind, string>()
  readonly #money = new Map<string, Money>()
  #withoutMoney = 0
  readonly #channels = new ValueCounter<OriginChannel, string>()
  readonly #keyNames = new ValueCounter<string, string>()
  readonly #actors = new ValueCounter<string, string>()
  readonly #users = new ValueCounter<string, string>()
  readonly #modes = new ValueCounter<'live' | 'test', string>()
  readonly #customers = new ValueCounter<string, string>()
  readonly #accounts = new ValueCounter<string, string>()
  readonly #subjects = new ValueCounter<string, string>()
  readonly #amounts = new ValueCounter<string, string>()
  readonly #refundReasons = new ValueCounter<string, string>()

  /** @param member the incidents of one action follow each other, the oldest first */
  add(member: CountedMember): void {
    if (this.#open[0]?.action_id !== member.action_id) this.#countOpenAction()
    this.#open.push(member)
    this.#incidents++
    this.#firstMs = Math.min(this.#firstMs, member.opened_at.getTime())
    this.#lastMs = Math.max(this.#lastMs, member.opened_at.getTime())
  }

  #countOpenAction(): void {
    const newest = this.#open.at(-1)
    if (newest === undefined) return
    const { action_id, kind, subject, facts, explained } = newest
    const isResolved = this.#open.every(({ resolved_at }) => resolved_at !== null)
    const isUnacknowledged = this.#open.some(one => one.resolved_at === null && one.acknowledged_at === null)
    this.#open = []
    if (this.#count === 0) this.#firstActionId = action_id
    this.#count++
    if (isResolved) this.#resolved++
    if (isUnacknowledged) this.#unacknowledged++
    if (isResolved && explained) this.#explained++
    this.#kinds.add(kind, action_id)
    this.#addMoney(newest)
    this.#channels.add(facts.channel, action_id)
    this.#keyNames.add(facts.key_name, action_id)
    this.#actors.add(facts.actor_id, action_id)
    this.#users.add(facts.user_fingerprint, action_id)
    this.#modes.add(facts.mode, action_id)
    this.#customers.add(facts.customer_id, action_id)
    this.#accounts.add(newest.account, action_id)
    this.#subjects.add(subject, action_id)
    this.#refundReasons.add(facts.refund_reason, action_id)
  }

  #addMoney({ action_id, amount, currency, state, facts: { mode } }: CountedMember): void {
    if (amount === null || currency === null) return
    this.#amounts.add(`${amount} ${currency}`, action_id)
    if (movedNoMoney(state)) {
      this.#withoutMoney++
      return
    }
    const key = `${currency} ${mode}`
    const known = this.#money.get(key)
    const isLargest = known === undefined || amount > known.largest
    this.#money.set(key, {
      currency,
      amount: (known?.amount ?? 0) + amount,
      count: (known?.count ?? 0) + 1,
      largest: isLargest ? amount : known.largest,
      mode,
      largestActionId: isLargest ? action_id : known.largestActionId,
    })
  }

  /** @returns undefined if no member was added */
  totals(): StormTotals | undefined {
    this.#countOpenAction()
    const count = this.#count
    if (count === 0) return undefined
    const minutes = Math.max(1, (this.#lastMs - this.#firstMs) / MINUTE_MS)
    const money = [...this.#money.values()].sort(byImportance)
    const amount = this.#amounts.most(count)
    const [amountText = '', currency = ''] = amount?.value.split(' ') ?? []
    const mode = this.#modes.most(count)
    return {
      incidents: this.#incidents,
      counted: {
        first_at: isoTime(this.#firstMs),
        last_at: isoTime(this.#lastMs),
        count,
        explained: this.#explained,
        resolved: this.#resolved,
        unacknowledged: this.#unacknowledged,
        per_minute: Math.round((count / minutes) * 10) / 10,
        kinds: this.#kinds.all().map(({ value, count }) => ({ kind: value, count })),
        money: money.map(({ largestActionId: _id, ...shown }) => shown),
        without_money: this.#withoutMoney,
        mode: mode?.count === count ? mode.value : null,
        customers: this.#customers.all().length,
      },
      common: {
        channel: withoutItem(this.#channels.most(count)),
        key_name: withoutItem(this.#keyNames.most(count)),
        subject: withoutItem(this.#subjects.most(count)),
        amount: amount === null ? null : { value: Number(amountText), currency, count: amount.count },
        refund_reason: withoutItem(this.#refundReasons.most(count)),
      },
      customer: this.#customers.most(count),
      user: this.#users.most(count),
      actor: this.#actors.most(count),
      accounts: this.#accounts.all().length,
      largestActionId: money[0]?.largestActionId ?? this.#firstActionId,
    }
  }
}

/** Test money last, then the currency of most actions first. */
function byImportance(a: Money, b: Money): number {
  const isTest = ({ mode }: Money) => Number(mode === 'test')
  return isTest(a) - isTest(b) || b.count - a.count || (a.currency < b.currency ? -1 : 1)
}
