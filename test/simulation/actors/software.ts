import type { ChangeKind, PreparedChange } from '../../setup/planned-changes/change-kind.ts'
import { isJudged } from '../../setup/planned-changes/planned-change.ts'
import type { WorldClock } from '../world/agenda.ts'
import type { Random } from '../world/random.ts'
import type { Deed, Ground, Truth } from './truth.ts'

/** When the customer's software reports a change. `nothing` is also what a stranger reports. */
export const HABITS = ['before', 'begun_only', 'after', 'late', 'other_amount', 'nothing'] as const
export type Habit = (typeof HABITS)[number]

export interface SoftwareParts {
  readonly scheduler: WorldClock
  readonly random: Random
  readonly truth: Truth
  readonly projectId: string
}

/** Makes a change at a provider and reports it by a habit. Resolves when everything is reported. */
export async function makeChange(
  kind: ChangeKind,
  habit: Habit,
  number: number,
  { scheduler, random, truth, projectId }: SoftwareParts,
): Promise<void> {
  const prepared = kind.prepare(number)
  const { operation } = prepared
  const isReported = operation !== null && kind.alertDespiteOperation === undefined && isJudged(kind)
  const state = kind.finalState ?? 'completed'
  const report = async (more: object) => {
    truth.unconfirmedReports += 1
    const made = (await kind.connection.report({ ...operation, ...more })) as unknown as {
      operation_id: string
      state: string
    }
    truth.unconfirmedReports -= 1
    truth.reports.push({ operationId: made.operation_id, state: made.state })
    return made
  }
  const wait = (ms: number) => new Promise<void>(resolve => void scheduler.schedule(ms, resolve))
  let begun: string | undefined
  if (isReported && (habit === 'before' || habit === 'begun_only'))
    begun = (await report({ state: 'executing' })).operation_id
  if (isReported && habit === 'other_amount' && operation?.amount !== undefined)
    await report({ state: 'executing', amount: operation.amount + 5 })
  const deed = make(kind, prepared, truth, { projectId, atMs: scheduler.now })
  scheduleLaterChange(kind, prepared, scheduler, random)
  if (!isReported) return
  // An operation that is being executed explains its change.
  const ground: Ground = {
    reason: 'an operation',
    explains: true,
    begins: { fromMs: deed.atMs, ...(begun === undefined ? {} : { toMs: deed.atMs }) },
  }
  if (begun !== undefined) deed.grounds.push(ground)
  if (habit === 'before' && begun !== undefined)
    await kind.connection.reportTransition(begun, { to: state, provider_ref: deed.ref })
  if (habit !== 'after' && habit !== 'late') return
  await wait(habit === 'late' ? random.between(75_000, 150_000) : random.between(0, 20_000))
  const late: Ground = {
    reason: 'an operation',
    explains: kind.records.includes('refund'),
    begins: { fromMs: scheduler.now },
  }
  deed.grounds.push(late)
  const times = { executing_at: new Date(deed.atMs).toISOString(), ended_at: new Date(deed.atMs + 1).toISOString() }
  await report({
    state,
    provider_ref: deed.ref,
    ...(state === 'completed' ? times : { executing_at: times.executing_at }),
  })
  late.begins.toMs = scheduler.now
}

function make(
  kind: ChangeKind,
  prepared: PreparedChange,
  truth: Truth,
  { projectId, atMs }: { projectId: string; atMs: number },
): Deed {
  const { ref, names = [] } = prepared.make(null)
  const mustAlert = isJudged(kind) && prepared.operation !== null && kind.alertDespiteOperation === undefined
  const deed: Deed = {
    projectId,
    title: kind.title,
    ref,
    names: [ref, ...names],
    atMs,
    isJudged: isJudged(kind),
    mustAlert,
    accounts: [{ projectId, kind: '', grounds: [] }],
    grounds: [],
  }
  truth.deeds.push(deed)
  return deed
}

/** Providers give times in whole seconds, and a subscription biller's first change must have been read before its later one. */
function scheduleLaterChange(kind: ChangeKind, prepared: PreparedChange, scheduler: WorldClock, random: Random): void {
  const fromMs = kind.connection.kind === 'subscription' ? 75_000 : 1_500
  if (prepared.makeLaterChange !== undefined)
    scheduler.schedule(random.between(fromMs, 2 * fromMs), () => void prepared.makeLaterChange?.())
}
