import { type ObservedAction, PROVIDERS } from '@backstop/providers'
import fc from 'fast-check'
import type { Input } from '../src/decide/decide.ts'
import { CONNECTION, MINUTE, PROJECT, SECOND, sourceOf, T0 } from './fixtures.ts'
import type { ArrivedTotal, HappenedCharge, HappenedRefund } from './model/refund-total-model.ts'

/** Charges of the card processor with refunds. Any of their events may be lost. */

export interface RefundWorld {
  readonly happened: HappenedCharge
  /** The sightings of each event that arrives. */
  readonly events: readonly (readonly Input[])[]
}

/** One refund, and which of its events are lost. */
interface Drawn {
  readonly amount: number
  /** Seconds since the refund before it. */
  readonly afterS: number
  readonly failsAfterS: number | null
  readonly hasKey: boolean
  readonly isCreationLost: boolean
  readonly isFailureLost: boolean
  readonly isTotalLost: boolean
  /** True if this refund and the next one, which is made right after it, have one total together. */
  readonly joinsNext: boolean
}

const isSeldom = fc.nat(3).map(digit => digit === 0)

const refunds = fc.array(
  fc.record<Drawn>({
    amount: fc.constantFrom(500, 700, 700, 800, 1300),
    afterS: fc.constantFrom(4, 4, 30, 120, 1200, 5000),
    failsAfterS: fc.constantFrom(null, null, null, 20, 601, 3001),
    hasKey: fc.boolean(),
    isCreationLost: fc.boolean(),
    isFailureLost: isSeldom,
    isTotalLost: isSeldom,
    joinsNext: isSeldom,
  }),
  { minLength: 1, maxLength: 4 },
)

const charges = fc.record({
  refunds,
  /** The amount that was refunded before the connection was made. No event shows it. */
  amountBefore: fc.constantFrom<number[]>(0, 0, 700),
  created: fc.constantFrom('before connection', 'after connection', 'not said'),
  listing: fc.constantFrom('never', 'never', 'never', 'once'),
  saysBefore: fc.nat(5).map(digit => digit > 0),
})

type Charge = typeof charges extends fc.Arbitrary<infer Drawn> ? Drawn : never

/**
 * Repeats of a total are this far apart, because the same total within a minute counts as a repeated event. Failures
 * are this far from other refunds, because times within a second have no order.
 */
const MIN_REPEAT_S = 61
const MIN_APART_S = 3
/** The largest number of seconds between refunds with one total. */
const MAX_JOINED_S = 2

/** Groups the refunds that have one total together, as the indices of the first and the last. */
function groupByTotal(drawn: readonly Drawn[]): readonly { first: number; last: number }[] {
  let first = 0
  return drawn.flatMap(({ joinsNext }, last) => {
    if (joinsNext && last - first < MAX_JOINED_S && last + 1 < drawn.length) return []
    const one = { first, last }
    first = last + 1
    return [one]
  })
}

/** @returns undefined for a charge whose events do not determine the result */
function buildWorld({ refunds: drawn, amountBefore, created, listing, saysBefore }: Charge): RefundWorld | undefined {
  const groups = groupByTotal(drawn)
  let at = 0
  const madeAt = drawn.map(({ afterS }, index) => {
    at += groups.some(({ first }) => first === index) ? afterS : 1
    return at
  })
  const made = drawn.map(({ amount, failsAfterS, isCreationLost, isFailureLost }, index): HappenedRefund => {
    const failedAt = failsAfterS === null ? null : (madeAt[index] ?? 0) + failsAfterS
    return {
      amount,
      madeAt: madeAt[index] ?? 0,
      failedAt,
      hasCreationEvent: !isCreationLost,
      hasFailureEvent: failedAt !== null && !isFailureLost,
    }
  })
  const failures = made.flatMap(({ failedAt }) => failedAt ?? [])
  if (failures.some(failed => madeAt.some(at => Math.abs(at - failed) < MIN_APART_S))) return undefined
  if (!saysBefore && failures.length > 0) return undefined
  const isOlder = created === 'before connection'
  const base = isOlder ? amountBefore : 0
  const refunded = (at: number) =>
    made.reduce<number>(
      (sum, one) => (one.madeAt <= at && (one.failedAt === null || at < one.failedAt) ? sum + one.amount : sum),
      base,
    )
  const lastListing = listing === 'once' ? drawn.findIndex(({ isTotalLost }) => !isTotalLost) : -1
  const all = groups.map(({ first, last }) => {
    const at = madeAt[last] ?? 0
    const before = saysBefore ? refunded((madeAt[first] ?? 0) - 1) : null
    const isListing = lastListing >= first && lastListing <= last
    const isLost = drawn[last]?.isTotalLost === true
    return { first, last, at, total: refunded(at), before, isListing, isLost }
  })
  const isRepeated = all.some((one, index) =>
    all.slice(index + 1).some(next => next.total === one.total && next.at - one.at < MIN_REPEAT_S),
  )
  if (isRepeated) return undefined
  const totals = all.filter(({ isLost }) => !isLost)
  if (totals.some(({ first, last }) => isPartlyKnown(made.slice(first, last + 1)))) return undefined
  const chargeCreated = { 'before connection': -7200, 'after connection': -600, 'not said': null }[created]
  const events = [
    ...made.flatMap((refund, index) =>
      refundEvents(refund, index, drawn[index]?.hasKey === true ? `key_${index}` : null),
    ),
    ...totals.map(total => totalEvent(total, made, drawn, chargeCreated)),
  ]
  return { happened: { refunds: made, totals, isOlderThanConnection: isOlder }, events }
}

/**
 * True if only some of the refunds with one total are known, because the total does not show which ones are missing.
 */
function isPartlyKnown(refunds: readonly HappenedRefund[]): boolean {
  const reported = refunds.filter(({ hasCreationEvent, hasFailureEvent }) => hasCreationEvent || hasFailureEvent)
  return reported.length > 0 && reported.length < refunds.length
}

const seconds = (at: number) => T0 / 1000 + at

const refundObject = ({ amount, madeAt }: HappenedRefund, index: number, status: string) => ({
  ...{ id: `re_${index}`, object: 'refund', amount, currency: 'eur', charge: 'ch_1', payment_intent: 'pi_1' },
  ...{ created: seconds(madeAt), status },
})

function refundEvents(refund: HappenedRefund, index: number, key: string | null): Input[][] {
  const { madeAt, failedAt, hasCreationEvent, hasFailureEvent } = refund
  const created = event('refund.created', `made_${index}`, madeAt, refundObject(refund, index, 'pending'), key)
  const failed = event('refund.failed', `failed_${index}`, failedAt ?? 0, refundObject(refund, index, 'failed'), null)
  return [...(hasCreationEvent ? [created] : []), ...(hasFailureEvent ? [failed] : [])]
}

function totalEvent(
  { first, last, at, total, before, isListing }: ArrivedTotal,
  made: readonly HappenedRefund[],
  drawn: readonly Drawn[],
  chargeCreated: number | null,
): Input[] {
  const listed = made.slice(0, last + 1).map((refund, index) => {
    const hasFailed = refund.failedAt !== null && refund.failedAt < at
    return refundObject(refund, index, hasFailed ? 'failed' : 'succeeded')
  })
  const charge = {
    ...{ id: 'ch_1', object: 'charge', amount_refunded: total, currency: 'eur', payment_intent: 'pi_1' },
    ...(chargeCreated === null ? {} : { created: seconds(chargeCreated) }),
    ...(isListing ? { refunds: { data: listed } } : {}),
  }
  const previous = before === null ? {} : { amount_refunded: before }
  const key = first === last && drawn[last]?.hasKey === true ? `key_${last}` : null
  return event('charge.refunded', `total_${last}`, at, charge, key, previous)
}

/** The sightings of an event, read by the real normaliser. */
function event(type: string, eventId: string, at: number, object: object, key: string | null, previous = {}): Input[] {
  const origin = { projectId: PROJECT, connectionId: CONNECTION, eventId, eventType: type }
  const meaning = PROVIDERS.processor.normaliseEvent(origin, {
    created: seconds(at),
    request: { idempotency_key: key },
    data: { object, previous_attributes: previous },
  })
  if (meaning.kind !== 'observed') throw new Error(`${type} was not read: ${meaning.kind}`)
  return meaning.sightings.map(sighting => ({
    kind: 'sighting',
    sighting: sighting as ObservedAction,
    source: sourceOf(eventId, type),
  }))
}

export const refundWorlds: fc.Arbitrary<RefundWorld> = charges
  .map(buildWorld)
  .filter(world => world !== undefined)
  .filter(({ events }) => events.length > 0)

export interface RefundDelivery {
  readonly arrivals: readonly { readonly at: number; readonly input: Input }[]
  readonly looksLateMs: number
}

/** Events in random order, some twice, with gaps of up to 90 seconds, after the whole history. */
export function refundDeliveriesOf({ events }: RefundWorld): fc.Arbitrary<RefundDelivery> {
  const count = events.length
  return fc
    .record({
      order: fc.shuffledSubarray([...events], { minLength: count, maxLength: count }),
      copies: fc.array(fc.nat({ max: count - 1 }), { maxLength: 2 }),
      gapsS: fc.array(fc.constantFrom(0, 20, 90), { minLength: count + 2, maxLength: count + 2 }),
      looksLateMs: fc.constantFrom(0, 400_000),
    })
    .map(({ order, copies, gapsS, looksLateMs }) => {
      let at = T0 + 600 * MINUTE
      const arrivals = [...order, ...copies.flatMap(index => [events[index] ?? []])].flatMap((inputs, index) => {
        at += (gapsS[index] ?? 0) * SECOND
        return inputs.map(input => ({ at, input }))
      })
      return { arrivals, looksLateMs }
    })
}
