import type { Operation } from '@backstop/contracts'
import type { EndCause } from '@backstop/providers'
import { type ActionRecord, needsVerdict } from '../src/case/action-record.ts'
import type { Case } from '../src/case/case.ts'
import type { Input } from '../src/decide/decide.ts'
import {
  type AlertState,
  cancellationsOf,
  type ModelAction,
  type ModelConnection,
  type ModelExpectedChange,
  type ModelRefund,
  type ModelSnapshot,
  refundsOf,
  verdictsOn,
} from './model/verdict-model.ts'
import type { RandomWorld } from './random-world.ts'

/** Compares the verdicts of a played world with those of the model. */

type Observed = Extract<Input, { kind: 'sighting' }>

/** The facts that arrived, in the form of the model. */
export interface ModelFacts {
  readonly actions: readonly ModelAction[]
  readonly operations: ReadonlyMap<string, Operation>
  readonly expected: readonly ModelExpectedChange[]
  readonly by: readonly ModelConnection[]
}

/** The model's verdicts for the facts that arrived and the alerts that were sent. */
export function modelledVerdicts({ actions, operations, expected, by }: ModelFacts, played: Case): string[] {
  return verdictsOn(actions, [...operations.values()], expected, by, alertStatesOf(played))
}

export function modelFactsOf({ inputs, connections, madeAt, expectedChanges }: RandomWorld): ModelFacts {
  const arrived = inputs.filter(({ isLost }) => !isLost).map(({ input }) => input)
  const by = connections.map(
    ({ connectionId, outOfBand, deleted }): ModelConnection => ({
      id: connectionId,
      madeAt: madeAt.get(connectionId) ?? 0,
      outOfBand,
      isDeleted: deleted,
    }),
  )
  const seen = arrived.filter((input): input is Observed => input.kind === 'sighting')
  const operations = new Map<string, Operation>()
  for (const input of arrived) {
    if (input.kind !== 'operation') continue
    const { operation } = input
    const known = operations.get(operation.operation_id)
    if (known === undefined || known.version < operation.version) operations.set(operation.operation_id, operation)
  }
  const actions = [...refundsOf(modelledRefunds(seen), namesInTotals(seen)), ...modelledCancellations(seen, by)]
  const expected = expectedChanges
    .filter(expectedChange => expectedChange.projectId === 'prj_test')
    .map(({ kind, subject, amount, createdAt, expiresAt }) => ({
      kind,
      about: subject,
      amount,
      from: createdAt,
      until: expiresAt,
    }))
  return { actions, operations, expected, by }
}

function modelledRefunds(seen: readonly Observed[]): ModelRefund[] {
  const byId = new Map<string, ModelRefund>()
  for (const { sighting, source } of seen) {
    if (sighting.kind !== 'action') continue
    const known = byId.get(sighting.identity)
    const { createdAt, made } = sighting
    const date = Math.min(known?.date ?? Infinity, createdAt)
    const reportedAt = Math.min(known?.reportedAt ?? Infinity, made?.at ?? Infinity)
    const changedAt = Math.min(known?.changedAt ?? Infinity, made?.by ?? createdAt)
    const isDateChosen = known?.isDateChosen === true || made?.isDateChosen === true
    byId.set(sighting.identity, {
      id: sighting.providerRef,
      provider: sighting.provider,
      creditNotes: [...(known?.creditNotes ?? []), ...(sighting.creditNoteIds ?? [])],
      gatewayId: known?.gatewayId ?? sighting.gatewayRefs[0] ?? null,
      about: sighting.objectIds,
      amount: sighting.amount ?? 0,
      currency: sighting.currency ?? '',
      ...{ date, reportedAt, changedAt, isDateChosen },
      key: known?.key ?? sighting.idempotencyKey,
      request: known?.request ?? sighting.requestId ?? null,
      through: [...(known?.through ?? []), source.connection.id],
      hasExpired: known?.hasExpired === true || sighting.isExpiredAuthorization === true,
    })
  }
  return [...byId.values()]
}

const CAUSES: Record<EndCause, string | null> = {
  requested: null,
  involuntary: 'involuntary_end',
  plan_end: 'plan_ended',
  no_payment_method: 'no_payment_method',
  payment_disputed: 'payment_disputed',
  retention_policy: 'retention_policy',
  never_began: 'never_began',
  not_billable: 'not_billable',
}

function namesInTotals(seen: readonly Observed[]): (readonly string[])[] {
  return seen.flatMap(({ sighting }) => (sighting.kind === 'refund_total' ? [sighting.objectIds] : []))
}

function modelledCancellations(seen: readonly Observed[], by: readonly ModelConnection[]) {
  const snapshots: ModelSnapshot[] = []
  let of: { id: string; provider: Observed['sighting']['provider']; by: ModelConnection } | undefined
  for (const { sighting, source } of seen) {
    if (sighting.kind !== 'subscription') continue
    const through = by.find(({ id }) => id === source.connection.id)
    if (through !== undefined) of = { id: sighting.subject, provider: sighting.provider, by: through }
    const { asOf, cancellation, before, isPastDue = false, idempotencyKey, requestId } = sighting
    const known = snapshots.findIndex(one => one.asOf === asOf)
    const snapshot: ModelSnapshot = {
      asOf,
      phase: cancellation.phase,
      left: before?.cancellation ?? snapshots[known]?.left ?? null,
      requestedAt: cancellation.requestedAt,
      endsAt: cancellation.effectiveAt,
      isAtOnce: cancellation.isImmediate === true,
      byItself: CAUSES[cancellation.cause],
      isPastDue,
      isBaseline: source.readFor === 'baseline' || snapshots[known]?.isBaseline === true,
      isOfEvent: source.eventId !== null || snapshots[known]?.isOfEvent === true,
      key: idempotencyKey ?? snapshots[known]?.key ?? null,
      request: requestId ?? snapshots[known]?.request ?? null,
    }
    if (known < 0) snapshots.push(snapshot)
    else snapshots[known] = snapshot
  }
  return of === undefined ? [] : cancellationsOf(of.id, of.provider, snapshots, of.by)
}

function alertStatesOf({ actions }: Case): ReadonlyMap<string, AlertState> {
  return new Map(
    actions.map(action => {
      const { verdict, incidents, operationId } = action
      const wasUnexplained = verdict === 'explained' && incidents.length > 0
      const isClosed = incidents.length > 0 && operationId === null && verdict !== 'unexplained'
      const explainedBy = wasUnexplained ? operationId : null
      return [nameOf(action), { isAlerted: verdict === 'unexplained', explainedBy, isClosed }]
    }),
  )
}

/** The model does not know provider answers, so an alert that the provider denied later counts as unexplained. */
function withoutLateDenial(action: ActionRecord): ActionRecord {
  if (action.reason !== 'provider_denies_it') return action
  return { ...action, verdict: 'unexplained', reason: 'nothing_explains_it' } as ActionRecord
}

/** The product's verdicts, in the form of the model. */
export function verdictsIn(theCase: Case): string[] {
  return theCase.actions
    .filter(needsVerdict)
    .map(withoutLateDenial)
    .map(action => `${nameOf(action)} ${action.verdict} ${action.reason} ${action.operationId}`)
    .sort()
}

/** The model's name of an action. */
export function nameOf({ kind, sides, subject, providerCreatedAt }: ActionRecord): string {
  const ids = sides.map(side => side.providerRef).sort()
  return kind === 'refund' ? ids.join('=') : `${subject}@${providerCreatedAt}`
}
