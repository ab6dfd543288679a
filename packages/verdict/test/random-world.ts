import type { ProviderKind } from '@backstop/contracts'
import fc from 'fast-check'
import type { ConnectionPolicy } from '../src/case/connection-policy.ts'
import type { ExpectedChange } from '../src/case/expected-change.ts'
import type { Input } from '../src/decide/decide.ts'
import { MINUTE, operationSeen, PROJECT, SECOND, T0 } from './fixtures.ts'
import {
  baselineInput,
  endedSubscription,
  refundShown,
  scheduledCancellation,
  sightingInput,
  subscriptionShown,
  totalShown,
} from './sightings.ts'

/** Random worlds with refunds and cancellations, and all events and operations that report them. */

/** An input that arrives or is lost. Inputs with a final state always arrive, because a sweep would find it. */
export interface WorldInput {
  readonly input: Input
  readonly isLost: boolean
}

export interface RandomWorld {
  readonly inputs: readonly WorldInput[]
  readonly connections: readonly ConnectionPolicy[]
  readonly madeAt: ReadonlyMap<string, number>
  readonly expectedChanges: readonly ExpectedChange[]
}

const CONNECTIONS = [
  { connectionId: 'con_p', provider: 'processor' },
  { connectionId: 'con_q', provider: 'processor' },
  { connectionId: 'con_r', provider: 'reseller' },
  { connectionId: 'con_s', provider: 'subscription' },
] as const

const settings = fc.record({
  outOfBand: fc.constantFrom('alert', 'alert', 'ignore', 'auto'),
  deleted: fc.nat(9).map(digit => digit === 0),
  canRead: fc.boolean(),
  madeS: fc.constantFrom(-3600, -3600, -3600, 5, 12),
})
const connections = fc.array(settings, { minLength: CONNECTIONS.length, maxLength: CONNECTIONS.length })
const lost = fc.nat(3).map(digit => digit === 0)

const operations = fc.array(
  fc.record({
    provider: fc.constantFrom<ProviderKind[]>('processor', 'reseller', 'subscription'),
    isRefund: fc.boolean(),
    target: fc.nat(2),
    amount: fc.constantFrom(1000, 2000),
    currency: fc.constantFrom('eur', 'eur', 'usd', null),
    byRef: fc.constantFrom('none', 'none', 'own', 'gateway', 'credit note'),
    byKey: fc.nat(3).map(digit => digit === 0),
    byRequest: fc.nat(3).map(digit => digit === 0),
    // Some operations have been executing for more than a day.
    atS: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: -5, max: 60 }) }, fc.constant(-87_000)),
    ends: fc.constantFrom('soon', 'soon', 'never', 'failed'),
    unapproved: fc.nat(7).map(digit => digit === 0),
    isTwice: fc.boolean(),
  }),
  { maxLength: 3 },
)

const expectedChanges = fc.array(
  fc.record({
    kind: fc.constantFrom('refund', 'cancellation'),
    subject: fc.constantFrom(null, 'pi_1', 'sub_1', 'pi_2'),
    amount: fc.constantFrom(null, 1000),
    fromS: fc.constantFrom(-600, 150),
    forS: fc.constantFrom(10, 3600),
    isOurs: fc.boolean(),
  }),
  { maxLength: 1 },
)

const refunds = fc.array(
  fc.record({
    provider: fc.constantFrom<ProviderKind[]>('processor', 'processor', 'reseller'),
    amount: fc.constantFrom(1000, 2000),
    atS: fc.integer({ min: 0, max: 6 }),
    key: fc.boolean(),
    isLostBefore: lost,
    alsoThroughOther: fc.boolean(),
    names: fc.constantFrom('both', 'both', 'charge', 'payment'),
    billerLaterS: fc.constantFrom(-1, 0, 1),
    atBiller: fc.constantFrom('nothing', 'nothing', 'linked', 'linked later', 'not linked'),
    hasExpired: fc.nat(7).map(digit => digit === 0),
    paysOutNote: fc.boolean(),
    atGatewayUnseen: fc.nat(4).map(digit => digit === 0),
    total: fc.constantFrom('told', 'lost', 'with the next', 'without the one before'),
  }),
  { minLength: 1, maxLength: 3 },
)

/** Whether events report the charge's totals, and when the charge was created. */
const charge = fc.record({
  tellsTotals: fc.boolean(),
  createdS: fc.constantFrom(null, -7200, -600),
})

/** The changes of one subscription, one every `everyS` seconds. */
const history = fc.record({
  everyS: fc.constantFrom(10, 10, 1200),
  steps: fc.array(
    fc.record({
      what: fc.constantFrom('schedule', 'schedule', 'move', 'remove', 'end', 'end itself', 'late', 'nothing'),
      isLost: lost,
      saysBefore: fc.boolean(),
      isRead: fc.nat(4).map(digit => digit === 0),
      ownCause: fc.constantFrom('involuntary', 'involuntary', 'payment_disputed', 'no_payment_method', 'not_billable'),
    }),
    { minLength: 1, maxLength: 5 },
  ),
})

type Drawn<T> = T extends fc.Arbitrary<infer Value> ? Value : never

const sightedAt = (madeAt: ReadonlyMap<string, number>, id: string) => ({
  connection: { id, createdAt: madeAt.get(id) ?? 0 },
})

const CREDIT_NOTE = 'CN-1'

/** An event may lack one of the processor's two names of a payment. */
const NAMES = { both: ['pi_1', 'ch_1'], charge: ['ch_1'], payment: ['pi_1'] } as const

function refundInputs(drawn: Drawn<typeof refunds>, madeAt: ReadonlyMap<string, number>): WorldInput[] {
  return drawn.flatMap((refund, index): WorldInput[] => {
    const createdAt = T0 + (refund.atS + index * 10) * SECOND
    const shown = { amount: refund.amount, createdAt }
    const sightingOf = (
      through: string,
      event: string,
      sighting: Parameters<typeof refundShown>[0],
      isLost = false,
    ) => ({
      input: sightingInput(refundShown({ ...shown, ...sighting }), {
        ...sightedAt(madeAt, through),
        eventId: `${event}_${index}`,
      }),
      isLost,
    })
    if (refund.provider === 'reseller') {
      const adjustment = { provider: 'reseller', providerRef: `adj_${index}`, about: ['txn_1'] } as const
      return [
        sightingOf('con_r', 'made', { ...adjustment, state: 'pending', stateVersion: 1 }, refund.isLostBefore),
        sightingOf('con_r', 'done', { ...adjustment, state: 'succeeded', stateVersion: 2 }),
      ]
    }
    const expired = refund.hasExpired ? { isExpiredAuthorization: true as const } : {}
    const atGateway = { providerRef: `re_${index}`, about: NAMES[refund.names as keyof typeof NAMES], ...expired }
    const idempotencyKey = refund.key ? `key_${index}` : null
    const made = { idempotencyKey, requestId: `req_${index}` }
    const isUnseen = refund.atGatewayUnseen && refund.atBiller !== 'nothing'
    const processor = [
      sightingOf('con_p', 'made', { ...atGateway, state: 'pending', ...made }, refund.isLostBefore),
      sightingOf('con_p', 'done', atGateway),
      ...(refund.alsoThroughOther ? [sightingOf('con_q', 'other', atGateway)] : []),
    ]
    const creditNotes = refund.paysOutNote ? [CREDIT_NOTE] : []
    const about = ['sub_1', 'pay_1', ...creditNotes]
    const transaction = {
      provider: 'subscription',
      providerRef: `txn_${index}`,
      about,
      creditNoteIds: creditNotes,
    } as const
    const dated = { ...transaction, createdAt: createdAt + refund.billerLaterS * SECOND }
    if (refund.atBiller === 'not linked' && refund.total !== 'told') {
      // A recorded refund, whose date a person chose. Its event and its last change say when it was made.
      const date = refund.total === 'lost' ? T0 - 7200 * SECOND : T0 + 60 * SECOND
      const recorded = { ...transaction, createdAt: date }
      const by = { at: null, by: createdAt + 3 * SECOND, isDateChosen: true } as const
      return [
        ...processor,
        sightingOf('con_s', 'recorded', { ...recorded, stateVersion: 1, made: by }),
        sightingOf(
          'con_s',
          'event',
          { ...recorded, stateVersion: 1, made: { ...by, at: createdAt } },
          refund.isLostBefore,
        ),
      ]
    }
    const linked = sightingOf('con_s', 'linked', { ...dated, gatewayRefs: [`re_${index}`], stateVersion: 2 })
    const unlinked = sightingOf('con_s', 'unlinked', { ...dated, stateVersion: 1 })
    const biller = { nothing: [], linked: [linked], 'linked later': [unlinked, linked], 'not linked': [unlinked] }
    return [...(isUnseen ? [] : processor), ...biller[refund.atBiller]]
  })
}

/**
 * The totals of the payment's charge. All its refunds are reported in the end, so the totals prove no further refund.
 */
function totalInputs(
  drawn: Drawn<typeof refunds>,
  { tellsTotals, createdS }: Drawn<typeof charge>,
  madeAt: ReadonlyMap<string, number>,
): WorldInput[] {
  const isUnseen = drawn.some(({ atGatewayUnseen, atBiller }) => atGatewayUnseen && atBiller !== 'nothing')
  if (!tellsTotals || isUnseen) return []
  const by = sightedAt(madeAt, 'con_p')
  const createdAt = createdS === null ? null : T0 + createdS * SECOND
  let [total, before] = [0, 0]
  return drawn.flatMap((refund, index): WorldInput[] => {
    if (refund.provider === 'reseller') return []
    total += refund.amount
    if (refund.total === 'with the next') return []
    const at = T0 + (refund.atS + index * 10) * SECOND
    const from = refund.total === 'without the one before' ? null : before
    before = total
    const input = sightingInput(totalShown(total, from, at, createdAt), { ...by, eventId: `total_${index}` })
    return [{ input, isLost: refund.total === 'lost' }]
  })
}

const CONNECTION_OF = { processor: 'con_p', reseller: 'con_r', subscription: 'con_s' } as const

function subscriptionInputs(
  provider: ProviderKind,
  { steps, everyS }: Drawn<typeof history>,
  madeAt: ReadonlyMap<string, number>,
): WorldInput[] {
  const by = sightedAt(madeAt, CONNECTION_OF[provider])
  const since = by.connection.createdAt
  let state = subscriptionShown({ provider, asOf: T0 - 100 * SECOND })
  const inputs: WorldInput[] = []
  let isBaselineRead = false
  const baseline = () => {
    isBaselineRead = true
    // The processor gives subscriptions no version, so a re-read counts with the time at which it was made.
    const asOf = provider === 'processor' ? since + 2 * SECOND : state.asOf
    inputs.push({ input: baselineInput({ ...state, asOf, before: null, idempotencyKey: null }, by), isLost: false })
  }
  steps.forEach(({ what, isLost, saysBefore, isRead, ownCause }, index) => {
    const asOf = T0 + index * everyS * SECOND
    if (!isBaselineRead && asOf > since + 2 * SECOND) baseline()
    const was = state.cancellation.phase
    if (was === 'executed') return
    // The reseller never gives the time of a request; the biller gives it for scheduled ends only.
    const asked = (isNow: boolean) =>
      provider === 'reseller' || (provider === 'subscription' && isNow) ? null : asOf - SECOND
    const key = provider === 'processor' ? { idempotencyKey: `key_${index}`, requestId: `req_${index}` } : {}
    const kept = { provider, asOf, cancellation: state.cancellation }
    if (what === 'schedule' && was === 'none') state = scheduledCancellation(asked(false), { provider, asOf, ...key })
    else if (what === 'move' && was === 'scheduled') {
      const effectiveAt = (state.cancellation.effectiveAt ?? asOf) + (saysBefore ? 10 : -10) * DAY_MS
      state = scheduledCancellation(asked(false), { provider, asOf, ...key, cancellation: { effectiveAt } })
    } else if (what === 'remove') state = subscriptionShown({ provider, asOf })
    else if (what === 'end' && was === 'scheduled') state = endAfterSchedule(state, asOf, saysBefore)
    else if (what === 'end')
      state = endedSubscription(asked(true), { provider, asOf, ...key, ...immediateEnd(provider) })
    else if (what === 'end itself' && provider !== 'reseller') {
      const cancellation = { cause: ownCause, detail: null } as const
      state = endedSubscription(state.cancellation.requestedAt ?? asked(true), { provider, asOf, cancellation })
    } else state = subscriptionShown({ ...kept, isPastDue: provider === 'reseller' && what === 'late' })
    const before = saysBefore && provider === 'processor' ? { cancellation: was, pause: null } : null
    const event = sightingInput({ ...state, before }, { ...by, eventId: `sub_${index}` })
    // Changes before the connection was made were not sent to it.
    inputs.push({ input: event, isLost: isLost || asOf <= since })
    if (isRead && asOf > since) {
      const readAsOf = provider === 'processor' ? asOf + 3 * SECOND : asOf
      inputs.push({ input: sweptInput({ ...state, asOf: readAsOf, idempotencyKey: null }, by), isLost: false })
    }
  })
  if (!isBaselineRead) baseline()
  const endAsOf = provider === 'processor' ? T0 + 6000 * SECOND : state.asOf
  return [
    ...inputs,
    { input: sweptInput({ ...state, asOf: endAsOf, before: null, idempotencyKey: null }, by), isLost: false },
  ]
}

/** The biller shows whether an end was scheduled. If it was not, the end was immediate. */
function immediateEnd(provider: ProviderKind): Parameters<typeof endedSubscription>[1] {
  return provider === 'subscription' ? { cancellation: { isImmediate: true } } : {}
}

/**
 * The scheduled end takes effect, or somebody ends the subscription earlier. Only the processor then shows a new
 * request time.
 */
function endAfterSchedule(
  { provider, cancellation }: ReturnType<typeof scheduledCancellation>,
  asOf: number,
  isAskedAgain: boolean,
) {
  const { requestedAt, effectiveAt } = cancellation
  if (!isAskedAgain) return endedSubscription(requestedAt, { provider, asOf, cancellation: { effectiveAt } })
  if (provider !== 'processor') return endedSubscription(requestedAt, { provider, asOf })
  return endedSubscription(asOf, { provider, asOf, idempotencyKey: 'key_0', requestId: 'req_0' })
}

const DAY_MS = 86_400_000

const sweptInput: typeof sightingInput = (sighting, by) =>
  sightingInput(sighting, { ...by, eventId: null, eventType: 'sweep', readFor: 'sweep' })

const REFUND_OF = { processor: ['re_', 'pi_1'], reseller: ['adj_', 'txn_1'], subscription: ['txn_', 'sub_1'] } as const

/** @param scale factor for all times */
function operationInputs(drawn: Drawn<typeof operations>, scale: number): WorldInput[] {
  return drawn.flatMap((one, index): WorldInput[] => {
    const [prefix, payment] = REFUND_OF[one.provider]
    const named = { 'credit note': CREDIT_NOTE, gateway: `re_${one.target}` }
    const ref = named[one.byRef as keyof typeof named] ?? `${prefix}${one.target}`
    const at = T0 + one.atS * scale * SECOND
    const operation = {
      operation_id: `op_${index}`,
      provider: one.provider,
      connection_id: CONNECTION_OF[one.provider],
      kind: one.isRefund ? 'refund' : 'cancellation',
      subject: one.isRefund ? payment : 'sub_1',
      amount: one.isRefund ? one.amount : null,
      currency: one.isRefund ? one.currency : null,
      idempotency_key: one.byKey ? `key_${one.target}` : null,
      provider_request_id: one.byRequest ? `req_${one.target}` : null,
      executing_at: new Date(at).toISOString(),
      unapproved: one.unapproved ? ('never_asked' as const) : null,
    } as const
    const providerRef = one.isRefund ? ref : 'sub_1'
    const last = operationSeen({
      ...operation,
      version: 2,
      state: one.ends === 'never' ? 'executing' : one.ends === 'failed' ? 'failed' : 'completed',
      ended_at: one.ends === 'never' ? null : new Date(at + SECOND).toISOString(),
      provider_ref: one.byRef === 'none' ? null : providerRef,
    })
    const first = operationSeen({ ...operation, version: 1, state: 'executing', ended_at: null, provider_ref: null })
    return [...(one.isTwice ? [{ input: first, isLost: false }] : []), { input: last, isLost: false }]
  })
}

/** A world with refunds at one or two providers, or with a subscription at one of three providers. */
export const worlds: fc.Arbitrary<RandomWorld> = fc
  .record({
    connections,
    operations,
    expectedChanges,
    refunds: fc.option(refunds),
    charge,
    history,
    provider: fc.constantFrom(...Object.keys(CONNECTION_OF)),
  })
  .map(drawn => {
    const made = CONNECTIONS.map(({ connectionId }, index) => {
      const { madeS } = drawn.connections[index] ?? { madeS: 0 }
      return [connectionId, T0 + madeS * SECOND + 500] as const
    })
    const madeAt = new Map(made)
    const inputs = [
      ...(drawn.refunds === null
        ? subscriptionInputs(drawn.provider as ProviderKind, drawn.history, madeAt)
        : [...refundInputs(drawn.refunds, madeAt), ...totalInputs(drawn.refunds, drawn.charge, madeAt)]),
      ...operationInputs(drawn.operations, drawn.refunds === null ? drawn.history.everyS / 10 : 1),
    ]
    return {
      inputs,
      madeAt,
      connections: CONNECTIONS.map((connection, index) => {
        const { madeS: _made, ...policy } = drawn.connections[index] ?? {
          outOfBand: 'alert',
          deleted: false,
          canRead: false,
        }
        const canRead = connection.provider === 'subscription' || policy.canRead
        // The ledger knows every operation, even if its message has not arrived.
        return { ...connection, ...policy, canRead, hasExecuted: drawn.operations.length > 0 } as ConnectionPolicy
      }),
      expectedChanges: drawn.expectedChanges.map(({ kind, subject, amount, fromS, forS, isOurs }, index) => ({
        id: `exp_${index}`,
        projectId: isOurs ? PROJECT : 'prj_other',
        connectionId: null,
        kind: kind as ExpectedChange['kind'],
        subject,
        amount,
        currency: null,
        createdAt: T0 + fromS * SECOND,
        startsAt: T0 + fromS * SECOND - 2 * MINUTE,
        expiresAt: T0 + (fromS + forS) * SECOND,
        // With a smaller limit the covered actions would depend on the order of arrival. Other tests cover limits.
        maxChanges: 1_000,
        maxAmount: null,
        usedElsewhere: { changes: 0, amount: 0 },
      })),
    }
  })

/** The order in which the inputs of a world arrive: shuffled, some twice, with gaps of up to 90 seconds. */
export interface Delivery {
  readonly arrivals: readonly { readonly at: number; readonly input: Input }[]
  readonly looksLateMs: number
  /** The results of the first questions to a provider. Later questions are answered. */
  readonly askings: readonly ('read' | 'not_found' | 'unavailable' | 'lost')[]
}

export function deliveriesOf({ inputs: allInputs }: RandomWorld): fc.Arbitrary<Delivery> {
  const inputs = allInputs.filter(({ isLost }) => !isLost).map(({ input }) => input)
  const copies = fc.array(fc.nat({ max: Math.max(0, inputs.length - 1) }), { maxLength: 3 })
  return fc
    .record({
      order: fc.shuffledSubarray(inputs, { minLength: inputs.length, maxLength: inputs.length }),
      copies,
      gapsS: fc.array(fc.integer({ min: 0, max: 90 }), { minLength: inputs.length + 3, maxLength: inputs.length + 3 }),
      looksLateMs: fc.constantFrom(0, 5_000, 400_000),
      askings: fc.array(fc.constantFrom('read', 'not_found', 'unavailable', 'lost'), { maxLength: 4 }),
    })
    .map(({ order, copies: again, gapsS, looksLateMs, askings }) => {
      const all = [...order, ...again.flatMap(index => inputs[index] ?? [])]
      let at = T0 + 6 * MINUTE
      const arrivals = all.map((input, index) => {
        at += (gapsS[index] ?? 0) * SECOND
        return { input, at }
      })
      return { arrivals, looksLateMs, askings }
    })
}
