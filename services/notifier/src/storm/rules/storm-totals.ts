import {
  isoTime,
  type OriginChannel,
  type RecordKind,
  type Storm,
  type StormCommonFacts,
  type StormMemberDocument,
} from '@backstop/contracts'

/** The fields of a member that a report needs. */
export type CountedMember = Pick<
  StormMemberDocument,
  'action_id' | 'kind' | 'opened_at' | 'amount' | 'currency' | 'subject' | 'facts' | 'resolved_at' | 'explained'
>

/** A value, and how many actions have it. */
export interface CountedValue<Value> {
  readonly value: Value
  readonly count: number
  /** The first action with this value. */
  readonly actionId: string
}

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
    | 'mode'
    | 'customers'
  >
  readonly common: Omit<StormCommonFacts, 'customer' | 'user'>
  /** The id of the customer. The name is read from the action, because members store no personal data. */
  readonly customer: CountedValue<string> | null
  /** The fingerprint of the user. The user is read from the action. */
  readonly user: CountedValue<string> | null
  /** The largest action in the currency of most actions. */
  readonly largestActionId: string
}

type Money = Storm['money'][number] & { readonly largestActionId: string }

/** Maximum number of different values that are counted for each fact. A value of most actions appears long before. */
const MAX_VALUES = 10_000
const MINUTE_MS = 60_000

/** Adds up the members of a storm one by one, so that a storm of any size needs little memory. */
export class StormCounter {
  #count = 0
  #explained = 0
  #resolved = 0
  #firstMs = Number.POSITIVE_INFINITY
  #lastMs = Number.NEGATIVE_INFINITY
  #firstActionId = ''
  readonly #kinds = new ValueCounter<RecordKind>()
  readonly #money = new Map<string, Money>()
  readonly #channels = new ValueCounter<OriginChannel>()
  readonly #keyNames = new ValueCounter<string>()
  readonly #users = new ValueCounter<string>()
  readonly #modes = new ValueCounter<'live' | 'test'>()
  readonly #customers = new ValueCounter<string>()
  readonly #subjects = new ValueCounter<string>()
  readonly #amounts = new ValueCounter<string>()
  readonly #refundReasons = new ValueCounter<string>()

  add({ action_id, kind, opened_at, amount, currency, subject, facts, resolved_at, explained }: CountedMember): void {
    if (this.#count === 0) this.#firstActionId = action_id
    this.#count++
    if (explained) this.#explained++
    if (resolved_at !== null) this.#resolved++
    this.#firstMs = Math.min(this.#firstMs, opened_at.getTime())
    this.#lastMs = Math.max(this.#lastMs, opened_at.getTime())
    this.#kinds.add(kind, action_id)
    if (amount !== null && currency !== null) {
      const known = this.#money.get(currency)
      const isLargest = known === undefined || amount > known.largest
      this.#money.set(currency, {
        currency,
        amount: (known?.amount ?? 0) + amount,
        count: (known?.count ?? 0) + 1,
        largest: isLargest ? amount : known.largest,
        largestActionId: isLargest ? action_id : known.largestActionId,
      })
      this.#amounts.add(`${amount} ${currency}`, action_id)
    }
    this.#channels.add(facts.channel, action_id)
    this.#keyNames.add(facts.key_name, action_id)
    this.#users.add(facts.user_fingerprint, action_id)
    this.#modes.add(facts.mode, action_id)
    this.#customers.add(facts.customer_id, action_id)
    this.#subjects.add(subject, action_id)
    this.#refundReasons.add(facts.refund_reason, action_id)
  }

  /** @returns undefined if no member was added */
  totals(): StormTotals | undefined {
    const count = this.#count
    if (count === 0) return undefined
    const minutes = Math.max(1, (this.#lastMs - this.#firstMs) / MINUTE_MS)
    const money = [...this.#money.values()].sort((a, b) => b.count - a.count || (a.currency < b.currency ? -1 : 1))
    const amount = this.#amounts.most(count)
    const [amountText = '', currency = ''] = amount?.value.split(' ') ?? []
    const mode = this.#modes.most(count)
    return {
      counted: {
        first_at: isoTime(this.#firstMs),
        last_at: isoTime(this.#lastMs),
        count,
        explained: this.#explained,
        resolved: this.#resolved,
        per_minute: Math.round((count / minutes) * 10) / 10,
        kinds: this.#kinds.all().map(({ value, count }) => ({ kind: value, count })),
        money: money.map(({ largestActionId: _id, ...shown }) => shown),
        mode: mode?.count === count ? mode.value : null,
        customers: this.#customers.all().length,
      },
      common: {
        channel: withoutActionId(this.#channels.most(count)),
        key_name: withoutActionId(this.#keyNames.most(count)),
        subject: withoutActionId(this.#subjects.most(count)),
        amount: amount === null ? null : { value: Number(amountText), currency, count: amount.count },
        refund_reason: withoutActionId(this.#refundReasons.most(count)),
      },
      customer: this.#customers.most(count),
      user: this.#users.most(count),
      largestActionId: money[0]?.largestActionId ?? this.#firstActionId,
    }
  }
}

/** Counts the values of one fact. */
class ValueCounter<Value extends string> {
  readonly #values = new Map<Value, { count: number; readonly actionId: string }>()

  add(value: Value | null, actionId: string): void {
    if (value === null) return
    const known = this.#values.get(value)
    if (known !== undefined) known.count++
    else if (this.#values.size < MAX_VALUES) this.#values.set(value, { count: 1, actionId })
  }

  all(): CountedValue<Value>[] {
    return [...this.#values].map(([value, facts]) => ({ value, ...facts })).sort((a, b) => b.count - a.count)
  }

  /** The value that at least half of all members have, if several have it. */
  most(members: number): CountedValue<Value> | null {
    const [most] = this.all()
    return most !== undefined && most.count > 1 && most.count * 2 >= members ? most : null
  }
}

function withoutActionId<Value>(counted: CountedValue<Value> | null): { value: Value; count: number } | null {
  return counted === null ? null : { value: counted.value, count: counted.count }
}
