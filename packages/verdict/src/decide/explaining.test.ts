/** Runs the examples of docs/decisions/explaining.md through the code. They are in test/explaining.md. */
import {
  type ApprovalGap,
  CandidateFailure,
  type Command,
  type Operation,
  type ProviderKind,
  VerdictReason,
} from '@backstop/contracts'
import type { EndCause } from '@backstop/providers'
import { describe, expect, test } from 'vitest'
import { expectedChange } from '../../test/expected-changes.ts'
import {
  documentedCodes,
  type ExplainingRow,
  explainingRows,
  type Fields,
  timeOf,
} from '../../test/explaining-table.ts'
import {
  CONNECTION,
  contextAt,
  emptyCase,
  look,
  lookAll,
  lookFacts,
  MINUTE,
  operation,
  operationSeen,
  play,
  policy,
  SECOND,
  secondLooks,
  T0,
  totalSeen,
} from '../../test/fixtures.ts'
import {
  baselineInput,
  endedSubscription,
  recordShown,
  refundShown,
  scheduledCancellation,
  sightingInput,
  subscriptionShown,
} from '../../test/sightings.ts'
import type { ActionRecord } from '../case/action-record.ts'
import type { Case } from '../case/case.ts'
import type { ExpectedChange } from '../case/expected-change.ts'
import { type PendingLook, pendingLooks } from '../case/looks.ts'
import type { LookFacts } from '../case/whom-to-ask.ts'
import { claimResultOf } from '../explain/operation-match.ts'
import { whyOf } from '../explain/why.ts'
import { decide, type Input } from './decide.ts'

const DAY_MS = 86_400_000

/** The inputs of a row, in the order of the page. */
function shownInputs(shown: Fields, known: Fields): Input[] {
  const connectedAt = known.get('connected')
  const connection = { id: CONNECTION, createdAt: connectedAt === undefined ? T0 - 60 * MINUTE : timeOf(connectedAt) }
  const see = (sighting: Parameters<typeof sightingInput>[0]) => sightingInput(sighting, { connection })
  const at = (name: string) => timeOf(shown.get(name) ?? '')
  if (shown.has('record')) return [see(recordShown(shown.get('record') as 'dispute' | 'credit'))]
  if (shown.has('pause since')) {
    return [see(subscriptionShown({ asOf: at('pause since'), pause: { phase: 'paused', effectiveAt: null } }))]
  }
  const isCancellation = [...shown.keys()].some(name => name.startsWith('end '))
  return isCancellation ? shownSubscription(shown, known, see) : shownRefunds(shown, see)
}

function shownRefunds(shown: Fields, see: (sighting: Parameters<typeof sightingInput>[0]) => Input): Input[] {
  const made = shown.get('made')
  const at = made === undefined ? T0 : timeOf(made)
  const gatewayId = shown.get('at gateway')
  const facts = {
    ...paymentOf(shown),
    gatewayRefs: gatewayId === undefined ? [] : [gatewayId],
    createdAt: at,
    ...requestOf(shown),
  }
  const refund = refundShown({
    ...facts,
    providerRef: shown.get('refund') ?? 're_1',
    amount: Number(shown.get('amount') ?? 2499),
    ...(shown.get('authorization') === 'expired' ? { isExpiredAuthorization: true } : {}),
  })
  const biller = shown.get('at biller')
  const [beside, besideAt] = (shown.get('beside it') ?? '').split(' at ')
  const [, first, firstAmount] = /^(\S+) of (\d+)$/.exec(shown.get('after') ?? '') ?? []
  return [
    refund,
    ...(biller === undefined
      ? []
      : [refundShown({ provider: 'subscription', about: ['sub_1'], providerRef: biller, gatewayRefs: ['re_1'] })]),
    ...(besideAt === undefined
      ? []
      : [refundShown({ ...paymentOf(shown), providerRef: beside ?? '', createdAt: timeOf(besideAt) })]),
    ...(first === undefined
      ? []
      : [refundShown({ ...facts, providerRef: first, amount: Number(firstAmount), createdAt: at - SECOND })]),
    ...(shown.has('linked by') ? [totalShown()] : []),
  ].map(see)
}

/** The request that the row's event names. */
function requestOf(shown: Fields) {
  const requestId = shown.get('request')
  return { idempotencyKey: shown.get('key') ?? null, ...(requestId === undefined ? {} : { requestId }) }
}

/** The names of the object that the row's refund is about: a payment, and a credit note if the row names one. */
function paymentOf(shown: Fields) {
  const provider = (shown.get('provider') ?? (shown.has('pays out') ? 'subscription' : 'processor')) as ProviderKind
  const about = shown.get('names')?.split(' ') ?? (provider === 'processor' ? ['pi_1', 'ch_1'] : ['sub_1'])
  const creditNoteId = shown.get('pays out')
  return creditNoteId === undefined
    ? { provider, about }
    : { provider, about: [...about, creditNoteId], creditNoteIds: [creditNoteId] }
}

/** The total of the refund's charge. Its event also names the payment. */
function totalShown(): Parameters<typeof sightingInput>[0] {
  const input = totalSeen({ total: 2499, before: 0 })
  if (input.kind !== 'sighting') throw new Error('A total is a sighting')
  return input.sighting
}

function shownSubscription(
  shown: Fields,
  known: Fields,
  see: (sighting: Parameters<typeof sightingInput>[0]) => Input,
): Input[] {
  const [asked, first, out] = ['end requested', 'end shown', 'end reached'].map(name => shown.get(name))
  const atOnce = shown.get('end at once')
  // The reseller never shows when a cancellation was requested.
  const usual = atOnce !== undefined ? 'subscription' : asked === undefined ? 'reseller' : 'processor'
  const provider = (shown.get('provider') ?? usual) as ProviderKind
  const without = shown.get('shown without')
  if (atOnce !== undefined) {
    const cancellation = { isImmediate: true, effectiveAt: timeOf(shown.get('as of') ?? atOnce) } as const
    const end = endedSubscription(null, { provider, asOf: timeOf(atOnce), cancellation })
    const running = without === undefined ? [] : [see(subscriptionShown({ provider, asOf: timeOf(without) }))]
    return [...running, see(end)]
  }
  const requestedAt = asked === undefined ? null : timeOf(asked)
  const cause = (shown.get('cause') ?? 'requested') as EndCause
  const common = { provider, cancellation: { cause }, ...requestOf(shown) } as const
  const set = scheduledCancellation(requestedAt, { ...common, asOf: timeOf(asked ?? first ?? out ?? '') })
  const late = shown.get('payment late')
  const carriedOut = shown.get('carried out')
  const sooner = shown.get('ended sooner')
  return [
    ...(without === undefined ? [] : [see(subscriptionShown({ provider, asOf: timeOf(without) }))]),
    ...(late === undefined ? [] : [see(subscriptionShown({ provider, asOf: timeOf(late), isPastDue: true }))]),
    ...(out === undefined ? [] : [see(endedSubscription(null, { provider, asOf: timeOf(out) }))]),
    ...(out !== undefined ? [] : [known.has('baseline') ? asBaseline(see(set)) : see(set)]),
    ...(carriedOut === undefined
      ? []
      : [
          see(
            endedSubscription(requestedAt, {
              provider,
              asOf: timeOf(carriedOut),
              cancellation: { effectiveAt: set.cancellation.effectiveAt },
            }),
          ),
        ]),
    ...(sooner === undefined
      ? []
      : [see(endedSubscription(asked === undefined ? null : timeOf(sooner), { provider, asOf: timeOf(sooner) }))]),
  ]
}

function asBaseline(input: Input): Input {
  return input.kind === 'sighting' ? baselineInput(input.sighting, { connection: input.source.connection }) : input
}

/** The operation of a row. */
function operationOfRow(said: Fields, shown: Fields): Operation {
  const isCancelled = [...shown.keys()].some(name => name.startsWith('end '))
  const paysOut = shown.has('pays out')
  const kind = (said.get('kind') ?? (isCancelled ? 'cancellation' : 'refund')) as Operation['kind']
  const time = (name: string, usual: number) => {
    const text = said.get(name)
    if (text === 'not begun' || text === 'not reported') return null
    return new Date(text === undefined ? usual : timeOf(text)).toISOString()
  }
  const amount = said.get('amount')
  const currency = said.get('currency')
  const began = time('from', T0)
  return operation({
    kind,
    provider: (said.get('provider') ??
      (shown.has('end shown')
        ? 'reseller'
        : paysOut || shown.has('end at once')
          ? 'subscription'
          : 'processor')) as ProviderKind,
    subject: said.get('subject') ?? (isCancelled || paysOut ? 'sub_1' : 'pi_1'),
    amount: amount === 'not said' ? null : amount === undefined ? (kind === 'refund' ? 2499 : null) : Number(amount),
    currency: currency === 'not said' ? null : (currency ?? (kind === 'refund' ? 'eur' : null)),
    provider_ref: said.get('made') ?? null,
    idempotency_key: said.get('key') ?? null,
    provider_request_id: said.get('request') ?? null,
    state: (said.get('state') ?? 'completed') as Operation['state'],
    executing_at: began,
    ended_at: began === null ? null : time('to', T0 + SECOND),
    unapproved: (said.get('approval') ?? null) as ApprovalGap | null,
  })
}

/**
 * The action that a row is about. If another request ended the subscription earlier, it is the action of that request.
 */
function actionOf(theCase: Case, shown: Fields): ActionRecord {
  const action = theCase.actions.at(shown.has('ended sooner') ? -1 : 0)
  if (action === undefined) throw new Error('Nothing was recorded')
  return action
}

describe('docs/decisions/explaining.md holds for what an operation explains', () => {
  const rows = explainingRows('operations')

  test.each(rows)('$situation: $answer', ({ shown, known, answer }) => {
    const said = operationOfRow(known, shown)
    const seen = play(shownInputs(shown, new Map()).map(input => ({ at: T0 + MINUTE, input })))
    const others = known.has('beside it') ? [operationSeen({ operation_id: 'op_0', provider_ref: 're_1' })] : []
    const inputs: Input[] = [...others, { kind: 'operation', operation: said }]
    const theCase = play(
      inputs.map(input => ({ at: T0 + 2 * MINUTE, input })),
      shown.has('alerted') ? lookAll(seen) : seen,
    )
    const action = actionOf(theCase, shown)
    const [candidate] = whyOf(theCase, action).candidates
    const claim = claimResultOf(action, said)
    expect(`\`${candidate?.failure ?? claim.reason}\``).toBe(answer)
    expect(action.operationId === said.operation_id).toBe(/_match(?:es)?`$/.test(answer))
    expect(candidate?.text.endsWith('.')).not.toBe(true)
  })

  test('the page and the examples have every answer', () => {
    const answers = new Set(rows.map(row => row.answer))
    expect(documentedCodes('operations').sort()).toEqual([...answers].sort())
    expect(CandidateFailure.options.filter(failure => !answers.has(`\`${failure}\``))).toEqual([])
  })
})

/** The incidents of each refund, in order of first sight. */
function incidentsText({ actions }: Case): string {
  const clock = (ms: number) => {
    const days = Math.floor((ms - timeOf('00:00:00')) / DAY_MS)
    return `${new Date(ms).toISOString().slice(11, 19)}${days > 0 ? ' the day after' : ''}`
  }
  const heard = actions.map(({ providerRef, incidents }) => {
    const changes = incidents.flatMap(({ openedAt, resolvedAt }) => [
      `alert ${clock(openedAt)}`,
      ...(resolvedAt === null ? [] : [`resolved ${clock(resolvedAt)}`]),
    ])
    return `${providerRef}: ${changes.length === 0 ? 'nothing' : changes.join(', ')}`
  })
  return heard.join('; ')
}

type SettleCommand = Extract<Command, { kind: 'settle_operation' }>

/** The operation as the ledger records it after a command about the provider's decision. */
function operationAfterCommand(
  { operations }: Case,
  { operation_id, to, provider_ref }: SettleCommand,
  at: number,
): Input {
  const operation = operations.find(one => one.operation_id === operation_id) as Operation
  const ended = { state: to, version: operation.version + 1, ended_at: new Date(at).toISOString() }
  return {
    kind: 'operation',
    operation: { ...operation, ...ended, provider_ref: operation.provider_ref ?? provider_ref },
  }
}

/** Plays steps and the looks that are due between them. The provider confirms every action. */
function playWithLooks(steps: readonly { readonly at: number; readonly input: Input }[]): Case {
  const happen = (before: Case, input: Input, at: number): Case => {
    const theCase = decide(before, input, contextAt(at))
    const commands = theCase.outbox.slice(before.outbox.length).filter(({ topic }) => topic === 'commands')
    return commands.reduce(
      (next, { message }) => happen(next, operationAfterCommand(next, message as SettleCommand, at), at),
      theCase,
    )
  }
  const takeLooks = (theCase: Case, until: number): Case => {
    const [due] = pendingLooks(theCase)
      .filter(({ kind, dueAt }) => kind !== 'operation' && dueAt <= until)
      .toSorted((a, b) => a.dueAt - b.dueAt)
    return due === undefined ? theCase : takeLooks(happen(theCase, look(due, lookFacts(), 'read'), due.dueAt), until)
  }
  const played = steps
    .toSorted((a, b) => a.at - b.at)
    .reduce((theCase, { at, input }) => happen(takeLooks(theCase, at - 1), input, at), emptyCase())
  return takeLooks(played, Number.MAX_SAFE_INTEGER)
}

/** An expected change that covers the refund of a row. */
const EXPECTED = expectedChange({ amount: 2499, startsAt: T0 - MINUTE })

describe('docs/decisions/explaining.md holds for alerts', () => {
  test.each(explainingRows('alerts'))('$situation: $answer', ({ shown, known, answer }) => {
    const said = operationOfRow(known, shown)
    const reported = known.get('reported') ?? ''
    const [, laterId = '', amount = '2499', madeAt = '', arrivesAt = ''] =
      /^(\S+)(?: of (\d+))? at (\S+) arrives (\S+)$/.exec(shown.get('then') ?? '') ?? []
    const [named = '', namedAt = ''] = (known.get('names') ?? '').split(' at ')
    const ended = said.ended_at ?? (namedAt === '' ? null : new Date(timeOf(namedAt)).toISOString())
    const naming: Operation = { ...said, version: 2, state: 'completed', provider_ref: named, ended_at: ended }
    const later = () =>
      sightingInput(
        refundShown({
          ...paymentOf(shown),
          providerRef: laterId,
          amount: Number(amount),
          createdAt: timeOf(madeAt),
        }),
      )
    const first = shownInputs(shown, new Map())
    const noted = known.get('expected change at')
    const theCase = playWithLooks([
      ...first.map(input => ({ at: T0, input })),
      ...(reported === 'never'
        ? []
        : [{ at: timeOf(reported), input: { kind: 'operation', operation: said } as const }]),
      ...(laterId === '' ? [] : [{ at: timeOf(arrivesAt), input: later() }]),
      ...(named === '' ? [] : [{ at: timeOf(namedAt), input: { kind: 'operation', operation: naming } as const }]),
      ...(noted === undefined
        ? []
        : [{ at: timeOf(noted), input: { kind: 'expected_changes', expectedChanges: [EXPECTED] } as const }]),
      // A repeated event causes no alert.
      ...first.map(input => ({ at: T0 + 2 * DAY_MS, input })),
    ])
    expect(incidentsText(theCase)).toBe(answer)
  })
})

const OPERATIONS: Record<string, Partial<Operation>> = {
  'names it': { provider_ref: 're_1', amount: 1 },
  'knows its request': { provider_request_id: 'req_1', amount: 1 },
  'sent its key': { idempotency_key: 'k', amount: 1 },
  'names its credit note': { provider: 'subscription', subject: 'sub_1', provider_ref: 'CN-1', amount: 3000 },
  agrees: {},
}

function expectedChangesOf(text: string | undefined): ExpectedChange[] {
  if (text === undefined) return []
  const expected = expectedChange({
    subject: 'pi_1',
    amount: 2499,
    createdAt: T0 - 10 * MINUTE,
    expiresAt: T0 + 10 * MINUTE,
  })
  const [words = '', from] = text.split(', ')
  const change = EXPECTED_CHANGES[words]
  if (change === undefined) throw new Error(`There is no expected change that ${words}`)
  const stated = { ...expected, ...change }
  if (from === undefined) return [stated]
  return [{ ...stated, startsAt: from === 'from before' ? T0 - MINUTE : stated.createdAt }]
}

/** The time after the second looks of `judgeRow`. */
const ALERTED_AT = timeOf('12:05:00')

/** The fields of each expected change on the page that differ from `EXPECTED`. */
const EXPECTED_CHANGES: Record<string, Partial<ExpectedChange>> = {
  'covers it': {},
  'another amount': { amount: 1 },
  'had expired': { expiresAt: T0 },
  'used up': { usedElsewhere: { changes: 1, amount: 2499, by: ['act_other'] } },
  'too little money left': {
    maxAmount: 5_000,
    currency: 'eur',
    maxChanges: 9,
    usedElsewhere: { changes: 1, amount: 2502, by: ['act_other'] },
  },
  'enough money left': {
    maxAmount: 5_000,
    currency: 'eur',
    maxChanges: 9,
    usedElsewhere: { changes: 1, amount: 2501 },
  },
  'made while it was looked at': { createdAt: timeOf('12:00:30'), expiresAt: timeOf('13:00:00') },
  'made after the alert': { createdAt: timeOf('15:00:00'), expiresAt: timeOf('16:00:00') },
}

/** The case with all facts of the row, after its second looks. */
function judgeRow({ shown, known }: ExplainingRow): Case {
  const now = timeOf('12:00:00')
  const isCancelled = [...shown.keys()].some(name => name.startsWith('end '))
  const made = OPERATIONS[known.get('operation') ?? '']
  const kind = isCancelled ? { kind: 'cancellation', subject: 'sub_1', amount: null, currency: null } : {}
  const operations: Input[] =
    made === undefined ? [] : [{ kind: 'operation', operation: operation({ ...kind, ...made } as Partial<Operation>) }]
  const other = { connection: { id: 'con_b', createdAt: T0 - 60 * MINUTE } }
  const totals = known.has('con_b') ? [sightingInput(totalShown(), other)] : []
  const seen = play(
    [...shownInputs(shown, known), ...totals, ...operations].map(input => ({ at: now, input })),
    emptyCase(),
  )
  if (known.get('second look') === 'to come') return seen
  const setting = policy({
    outOfBand: (known.get('out of band') ?? 'alert') as 'alert' | 'auto' | 'ignore',
    hasExecuted: known.has('operations'),
    deleted: known.get('connection') === 'deleted',
    canRead: known.has('read key'),
  })
  const facts = lookFacts([setting, policy({ connectionId: 'con_b', outOfBand: 'alert' })])
  const all = expectedChangesOf(known.get('expected change'))
  const expectedChanges = all.filter(({ createdAt: notedAt }) => notedAt < ALERTED_AT)
  const readInTime = known.get('read key') === 'there, provider does not know it' ? 'not_found' : 'unavailable'
  const looked = secondLooks(seen).reduce((next, pending) => {
    const informed = decide(next, { kind: 'expected_changes', expectedChanges }, contextAt(pending.dueAt))
    const asked = decide(informed, look(pending, facts), contextAt(pending.dueAt))
    if (!known.has('read key')) return asked
    const answered = decide(asked, look(pending, facts, readInTime), contextAt(pending.dueAt + SECOND))
    return afterLateAnswer(answered, pending, facts, known.get('read later'))
  }, seen)
  return all.reduce(
    (next, late) => decide(next, { kind: 'expected_changes', expectedChanges: [late] }, contextAt(late.createdAt)),
    looked,
  )
}

/** The case after the provider's answer to a question that follows the alert. */
function afterLateAnswer(theCase: Case, pending: PendingLook, facts: LookFacts, said: string | undefined): Case {
  if (said === undefined) return theCase
  const at = pending.dueAt + 5 * MINUTE
  const isKnown = said !== 'not known'
  const shown = refundShown({ state: said as ActionRecord['state'] })
  const found = isKnown
    ? play([{ at, input: sightingInput(shown, { eventId: null, readFor: 'second_look' }) }], theCase)
    : theCase
  return decide(found, look(pending, facts, isKnown ? 'read' : 'not_found'), contextAt(at))
}

describe('docs/decisions/explaining.md holds for the verdict', () => {
  const rows = explainingRows('verdicts')

  test.each(rows)('$situation: $answer', row => {
    const theCase = judgeRow(row)
    const action = actionOf(theCase, row.shown)
    const isNamed = whyOf(theCase, action).rule.endsWith('by act_other')
    expect(`\`${action.reason}\``).toBe(row.answer)
    expect(isNamed).toBe(row.situation.endsWith('(the rule names the use)'))
  })

  test('the page and the examples have every reason', () => {
    const answers = new Set(rows.map(row => row.answer))
    expect(documentedCodes('verdicts').sort()).toEqual([...answers].sort())
    expect(VerdictReason.options.filter(reason => !answers.has(`\`${reason}\``))).toEqual([])
  })
})
