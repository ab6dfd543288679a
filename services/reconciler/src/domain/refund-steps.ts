import { deterministicId, formatMoney } from '@backstop/contracts'
import type { ObservedAction, ObservedRefundTotal } from '@backstop/providers'
import { recheckEntry } from './outgoing.ts'
import { byTime, compareText, nearestFirst, type Pair, pairUp, type Timed } from './pairing.ts'
import {
  type ActionRecord,
  type Forgotten,
  isProvisional,
  type RefundTotal,
  replaceAt,
  type Sighting,
  type Subject,
  UNJUDGED,
  withAll,
  withConnection,
} from './subject.ts'
import { timelineEntry } from './timeline.ts'

/**
 * What a charge's totals tell of its refunds (`charge.refunded`). Each total is one step: from the total before it to
 * this one, made when the event was made. A step that a known refund covers is that refund. A step that none covers by
 * its second look becomes a provisional action, and the refund that turns out to be it takes that action over.
 */

/** How far before its step a refund may have been made, and how far after, by the provider's clocks. */
const COVERS_BEFORE_MS = 15 * 60_000
const COVERS_AFTER_MS = 2_000
/** The same total this much later is another step: a refund that failed and was made again. */
const SAME_STEP_MS = 60_000

/** A refund as far as it may cover a step; its name is its identity. */
interface Covering extends Timed, Pick<ActionRecord, 'amount' | 'currency' | 'objectIds'> {}

/** The subject with a total as its event tells it. */
export function observeRefundTotal(subject: Subject, observed: ObservedRefundTotal, sighting: Sighting): Subject {
  const refs = withAll(subject.refs, observed.refs)
  const index = subject.refundTotals.findIndex(
    known =>
      known.identity === observed.identity &&
      known.total === observed.total &&
      Math.abs(known.observedAt - observed.observedAt) <= SAME_STEP_MS,
  )
  const known = subject.refundTotals[index]
  // The step of a refund that was given up went with it, and would be found open.
  if (known === undefined && subject.forgotten.some(one => wasStep(one, observed))) return { ...subject, refs }
  const entry: RefundTotal = {
    id: known?.id ?? `${observed.identity}/refunded/${observed.total}/${observed.observedAt}`,
    identity: observed.identity,
    chargeId: observed.chargeId,
    provider: observed.provider,
    subject: observed.subject,
    objectIds: observed.objectIds,
    seenThrough: withConnection(known?.seenThrough ?? [], sighting.connection),
    total: observed.total,
    totalBefore: known?.totalBefore ?? observed.totalBefore,
    currency: observed.currency,
    observedAt: Math.min(known?.observedAt ?? Infinity, observed.observedAt),
    idempotencyKey: known?.idempotencyKey ?? observed.idempotencyKey,
    eventIds: sighting.eventId === null ? (known?.eventIds ?? []) : withAll(known?.eventIds ?? [], [sighting.eventId]),
    look: known?.look ?? null,
  }
  const refundTotals =
    known === undefined ? [...subject.refundTotals, entry] : replaceAt(subject.refundTotals, index, entry)
  return { ...subject, refs, refundTotals }
}

/** The provisional action that an observed refund turns out to be: its index, or -1. */
export function provisionalFor(subject: Subject, observed: ObservedAction): number {
  if (!subject.actions.some(isProvisional)) return -1
  const covered = coveredSteps(subject, observed)
  const own = [...covered].find(([, identity]) => identity === observed.identity)?.[0]
  const mine = subject.actions.findIndex(action => isProvisional(action) && action.identity === own)
  if (mine >= 0) return mine
  // The new refund covers another one's step, and that one a step that had none: the provisional action is one of them.
  return subject.actions.findIndex(action => isProvisional(action) && covered.has(action.identity))
}

/** The steps that no refund covers and no provisional action stands for, with what each leaves open, in minor units. */
function openSteps(subject: Subject, totals = subject.refundTotals): ReadonlyMap<RefundTotal, number> {
  if (totals.length === 0) return new Map()
  const covered = coveredSteps(subject)
  const recorded = new Set(subject.actions.map(action => action.identity))
  const open = totals.filter(({ id }) => !covered.has(id) && !recorded.has(id))
  return new Map(open.map(total => [total, openAmount(subject, total)] as const).filter(([, amount]) => amount > 0))
}

function openAmount(subject: Subject, total: RefundTotal): number {
  if (total.totalBefore !== null) return total.total - total.totalBefore
  // The event does not say from where it came: what the refunds known by then do not add up to.
  const known = [...subject.actions, ...subject.forgotten]
    .filter(({ kind, state }) => kind === 'refund' && state !== 'failed' && state !== 'canceled')
    .filter(refund => sharesObject(refund, total) && refund.providerCreatedAt <= total.observedAt + COVERS_AFTER_MS)
    .reduce((sum, { amount }) => sum + (amount ?? 0), 0)
  return total.total - known
}

/** Whether a record that was given up can have been the step of a total; of one that does not say from where it came, none. */
function wasStep(one: Forgotten, { totalBefore, ...observed }: ObservedRefundTotal): boolean {
  if (one.kind !== 'refund' || totalBefore === null || one.amount !== observed.total - totalBefore) return false
  return covers(coveringOf(one, one.providerCreatedAt), observed)
}

/** Sets a look at every step that is open and has none to come; a step that was covered may be so no longer. */
export function armOpenSteps(subject: Subject, now: number, recheckDelayMs: number): Subject {
  const dueAt = now + recheckDelayMs
  const open = openSteps(
    subject,
    subject.refundTotals.filter(total => total.look?.doneAt !== null),
  )
  if (open.size === 0) return subject
  return {
    ...subject,
    refundTotals: subject.refundTotals.map(total =>
      open.has(total) ? { ...total, look: { dueAt, askedAt: null, doneAt: null } } : total,
    ),
    outbox: [...subject.outbox, ...[...open.keys()].map(total => recheckEntry(subject, total.id, dueAt, now))],
  }
}

/** The second look at a step: what is open becomes a provisional action, once. */
export function lookAtStep(subject: Subject, stepId: string, now: number): Subject {
  const index = subject.refundTotals.findIndex(total => total.id === stepId)
  const total = subject.refundTotals[index]
  if (total === undefined || total.look === null || total.look.doneAt !== null) return subject
  const done = { ...total, look: { ...total.look, doneAt: now } }
  const looked = { ...subject, refundTotals: replaceAt(subject.refundTotals, index, done) }
  const open = openSteps(subject, [total]).get(total)
  if (open === undefined) return looked
  return { ...looked, actions: [...looked.actions, provisionalAction(looked, total, open, now)] }
}

/** A name for the step's provisional action: a refund that took one over keeps its name, so the next has another. */
function freeActionId(subject: Subject, stepId: string): string {
  const taken = new Set(subject.actions.map(action => action.id))
  let id = deterministicId('action', stepId)
  for (let count = 2; taken.has(id); count += 1) id = deterministicId('action', stepId, String(count))
  return id
}

function provisionalAction(subject: Subject, total: RefundTotal, amount: number, now: number): ActionRecord {
  const money = formatMoney(amount, total.currency)
  const text = `The charge shows ${money} more refunded, and no refund of that amount was reported`
  return {
    id: freeActionId(subject, total.id),
    identity: total.id,
    kind: 'refund',
    sides: [],
    turn: null,
    provider: total.provider,
    seenThrough: total.seenThrough,
    subject: total.subject,
    objectIds: total.objectIds,
    providerRef: null,
    amount,
    currency: total.currency,
    state: 'succeeded',
    providerCreatedAt: total.observedAt,
    idempotencyKeys: total.idempotencyKey === null ? [] : [total.idempotencyKey],
    eventIds: total.eventIds,
    firstSeenAt: now,
    ...UNJUDGED,
    look: total.look,
    timeline: [timelineEntry(now, 'event_received', total.eventIds[0] ?? null, text)],
  }
}

interface Cover extends Pair<RefundTotal, Covering> {
  readonly distanceMs: number
}

/**
 * Which refund is which step: the same amount and currency, nearest in time, each refund one step and each step one
 * refund. Computed anew from all of them, so that it does not depend on the order of arrival.
 * @param more a refund that is about to be added
 * @returns the refund's identity by the step's id
 */
export function coveredSteps(subject: Subject, more?: ObservedAction): ReadonlyMap<string, string> {
  if (subject.refundTotals.length === 0) return new Map()
  const refunds = subject.actions
    .filter(action => action.kind === 'refund' && action.providerRef !== null)
    .map(action => coveringOf(action, action.providerCreatedAt))
  if (more !== undefined) refunds.push(coveringOf(more, more.createdAt))
  const byAmount = Map.groupBy(refunds.sort(byTime), refund => refund.amount)
  const guessed = new Map(subject.actions.filter(isProvisional).map(action => [action.identity, action.amount]))
  const pairs = pairUp(
    subject.refundTotals,
    function* (total): Generator<Cover, void> {
      const { id, totalBefore, observedAt } = total
      const amount = totalBefore === null ? (guessed.get(id) ?? null) : total.total - totalBefore
      for (const refund of nearestFirst(byAmount.get(amount) ?? [], observedAt)) {
        const distanceMs = Math.abs(refund.at - observedAt)
        if (distanceMs > COVERS_BEFORE_MS) return
        if (covers(refund, total)) yield { seeker: total, target: refund, distanceMs }
      }
    },
    (a, b) =>
      a.distanceMs - b.distanceMs || compareText(a.seeker.id, b.seeker.id) || compareText(a.target.name, b.target.name),
  )
  return new Map([...pairs].map(([total, { target }]) => [total.id, target.name]))
}

function coveringOf(
  { identity, amount, currency, objectIds }: ActionRecord | Forgotten | ObservedAction,
  at: number,
): Covering {
  return { name: identity, at, amount, currency, objectIds }
}

/** Whether a refund of the step's amount may be the step. */
function covers(refund: Covering, total: Pick<RefundTotal, 'objectIds' | 'currency' | 'observedAt'>): boolean {
  const age = total.observedAt - refund.at
  return (
    refund.currency === total.currency &&
    sharesObject(refund, total) &&
    -COVERS_AFTER_MS <= age &&
    age <= COVERS_BEFORE_MS
  )
}

function sharesObject(action: Pick<ActionRecord, 'objectIds'>, total: Pick<RefundTotal, 'objectIds'>): boolean {
  return action.objectIds.some(id => total.objectIds.includes(id))
}
