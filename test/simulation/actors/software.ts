import type { ChangeKind, PreparedChange } from '../../setup/planned-changes/change-kind.ts'
import { isJudged } from '../../setup/planned-changes/planned-change.ts'
import { wait } from '../world/agenda.ts'
import type { Random } from '../world/random.ts'
import type { Change } from './accounts.ts'
import { type Json, Refused } from './api-user.ts'
import type { Deed, Ground } from './truth.ts'
import type { World } from './world.ts'

/** When and how the customer's software reports a change. `nothing` is also what a stranger reports. */
export const HABITS = [
  'before',
  'begun_only',
  'with_key',
  'after',
  'twice',
  'late',
  'failed',
  'failed_then_repeated',
  'expected',
  'never_sent',
  'other_amount',
  'other_time',
  'nothing',
] as const
export type Habit = (typeof HABITS)[number]

const DAY_MS = 86_400_000
/** Probability that a provider loses notifications while it has other trouble. */
const LOST_WHILE_LAGGING = 0.5

/** Software and a stranger at one change. */
interface Task {
  readonly world: World
  readonly random: Random
  readonly change: Change
  readonly kind: ChangeKind
  readonly prepared: PreparedChange
  readonly number: number
}

/** Makes a change at a provider and reports it by a habit. Resolves when everything is reported. */
export async function makeChange(
  world: World,
  random: Random,
  change: Change,
  { habit: drawn, number }: { readonly habit: Habit; readonly number: number },
): Promise<void> {
  const { kind } = change
  const task = { world, random, change, kind, prepared: kind.prepare(number), number }
  const isReported = task.prepared.operation !== null && kind.alertDespiteOperation === undefined && isJudged(kind)
  const habit = isReported ? drawn : 'nothing'
  try {
    const deed = await follow(task, habit)
    world.happened(`software: ${habit}`)
    world.note(`${kind.title} (${deed.ref}) is reported: ${habit}`)
  } catch (error) {
    // The account is disconnected, so reports about it are refused.
    if (!(error instanceof Refused) || (error.status !== 404 && error.status !== 409)) throw error
    world.happened('software was refused')
  }
}

async function follow(task: Task, habit: Habit): Promise<Deed> {
  const { random, prepared } = task
  const { operation } = prepared
  switch (habit) {
    case 'before':
    case 'begun_only':
    case 'with_key':
      return reportBefore(task, habit)
    case 'after':
    case 'late':
    case 'twice': {
      const deed = make(task)
      const lateMs = habit === 'late' ? random.between(62_000, 150_000) : random.between(0, 20_000)
      await wait(task.world.clock, lateMs)
      await reportAfter(task, deed, habit === 'twice' ? 2 : 1)
      return deed
    }
    case 'failed':
    case 'failed_then_repeated':
      return reportFailed(task, habit)
    case 'expected':
      return expect(task)
    case 'never_sent':
      await report(task, { state: 'requested' })
      break
    case 'other_amount':
      if (operation?.amount !== undefined) await report(task, { state: 'executing', amount: operation.amount + 5 })
      break
    case 'other_time':
      // When a subscription was cancelled is often not known, so only refunds have a time to compare.
      if (operation?.amount !== undefined) await reportEarlier(task)
      break
    default:
  }
  return make(task)
}

/** Reports an operation as begun, makes the change, and reports its end if the software does not crash in between. */
async function reportBefore(task: Task, habit: 'before' | 'begun_only' | 'with_key'): Promise<Deed> {
  const { kind, number } = task
  const key = habit === 'with_key' && kind.connection.kind === 'processor' ? `key-${number}` : null
  const fromMs = task.world.clock.now
  const given = key === null ? {} : { idempotency_key: key }
  const isRequested = task.random.chance(0.5)
  const { operation_id } = await report(task, { state: isRequested ? 'requested' : 'executing', ...given })
  if (isRequested) await transition(task, String(operation_id), { to: 'executing' })
  const deed = make(task, key)
  // An operation that is being executed explains its change.
  explain(task, deed, fromMs, habit === 'before' || key !== null ? 'ended' : 'begun')
  if (habit === 'before')
    await transition(task, String(operation_id), { to: kind.finalState ?? 'completed', provider_ref: deed.ref })
  return deed
}

/** Reports an equal change of a day ago. It does not explain this one. */
async function reportEarlier(task: Task): Promise<void> {
  const atMs = task.world.clock.now - DAY_MS
  const [executing_at, ended_at] = [atMs, atMs + 1_000].map(ms => new Date(ms).toISOString())
  await report(task, { state: 'completed', executing_at, ended_at })
}

async function reportAfter(task: Task, deed: Deed, times: 1 | 2): Promise<void> {
  const state = task.kind.finalState ?? 'completed'
  const executing_at = new Date(deed.atMs).toISOString()
  const ended = state === 'completed' ? { ended_at: new Date(deed.atMs + 1).toISOString() } : {}
  const ground = explain(task, deed, task.world.clock.now, 'asked')
  for (let time = 0; time < times; time += 1) {
    await report(task, { state, provider_ref: deed.ref, executing_at, ...ended })
    ground.begins.toMs ??= task.world.clock.now
  }
}

/**
 * The request to the provider fails for the software. It was carried out nevertheless, or the software sends it again. If it does both, the
 * provider answers the second request with the change that the first one made, as for a repeated idempotency key.
 */
async function reportFailed(task: Task, habit: 'failed' | 'failed_then_repeated'): Promise<Deed> {
  const { clock } = task.world
  const fromMs = clock.now
  const { operation_id } = await report(task, { state: 'executing' })
  const deed = habit === 'failed' ? make(task) : undefined
  // A failed operation that names no change may have been carried out: its request may have timed out.
  if (deed !== undefined) explain(task, deed, fromMs, 'begun')
  await transition(task, String(operation_id), { to: 'failed', reason: 'The request timed out' })
  if (deed !== undefined && task.random.chance(0.5)) return deed
  await wait(clock, task.random.between(100, 5_000))
  if (deed === undefined) return reportBefore(task, 'before')
  await reportFound(task, deed)
  task.world.happened('software found what its failed request had changed')
  return deed
}

/** Reports a second operation, which names a change that is made already. */
async function reportFound(task: Task, deed: Deed): Promise<void> {
  const fromMs = task.world.clock.now
  const { operation_id } = await report(task, { state: 'executing' })
  await transition(task, String(operation_id), { to: task.kind.finalState ?? 'completed', provider_ref: deed.ref })
  explain(task, deed, fromMs, 'ended')
}

/** A person adds an expected change for it, and the software reports nothing. */
async function expect(task: Task): Promise<Deed> {
  const { kind, prepared, world, change, random } = task
  const { subject, amount, currency } = prepared.operation!
  const { accounts } = change
  // A refund through the gateway is a refund of another payment at the biller.
  const connection = accounts.length === 1 ? { connection_id: accounts[0]!.endpoint.connectionId } : {}
  const fromMs = world.clock.now
  const limits = amount === undefined ? {} : { amount, currency, ...(random.chance(0.5) ? { max_amount: amount } : {}) }
  await world.api.post('/v1/expected-changes', {
    project_id: accounts[0]!.truth.projectId,
    ...connection,
    kind: prepared.operation!.kind,
    subject,
    note: 'Agreed with the customer',
    ...limits,
  })
  const deed = make(task)
  deed.grounds.push({
    reason: `an expected change of ${kind.title}`,
    explains: true,
    begins: { fromMs, toMs: world.clock.now },
  })
  return deed
}

/** Reports an operation. Sometimes the answer counts as lost, and the report is repeated with its key: then it must be the same operation. */
function report(task: Task, more: object): Promise<Json> {
  const { change, prepared } = task
  return repeated(task, key => change.accounts[0]!.report({ ...prepared.operation, ...more }, key))
}

function transition(task: Task, id: string, to: object): Promise<Json> {
  return repeated(task, key => task.change.accounts[0]!.reportTransition(id, to, key))
}

async function repeated({ world, random }: Task, call: (key: string) => Promise<Json>): Promise<Json> {
  const key = world.api.newKey()
  const first = await call(key)
  if (!random.chance(world.swarm().reportRepeats)) return first
  const second = await call(key)
  world.happened('software repeated a report with its key')
  if (second.operation_id !== first.operation_id)
    world.truth.wrongs.push(`A report with one key made ${first.operation_id} and ${second.operation_id}`)
  return second
}

/**
 * Gives the change its operation as a ground.
 * @param state `asked`: not confirmed as yet. `begun`: confirmed, without the id of the change. `ended`: confirmed with its id
 */
function explain({ world, kind }: Task, deed: Deed, fromMs: number, state: 'asked' | 'begun' | 'ended'): Ground {
  const ground = {
    reason: 'an operation',
    // An operation that agrees only in amount and time resolves an alert a quarter of an hour after its end, which a run does not reach.
    explains: state === 'ended' || (state === 'asked' && kind.records.includes('refund')),
    begins: state === 'asked' ? { fromMs } : { fromMs, toMs: world.clock.now },
  }
  deed.grounds.push(ground)
  return ground
}

/** Makes the change. Its notifications may get lost. */
export function make({ world, random, kind, change, prepared }: Omit<Task, 'number'>, key: string | null = null): Deed {
  const { clock, truth, swarm, happened } = world
  const account = change.accounts[0]!
  const lost = account.isLagging ? Math.max(swarm().lost, LOST_WHILE_LAGGING) : swarm().lost
  const isLost = kind.canLoseEvents === true && random.chance(lost)
  const atMs = clock.now
  const { ref, names = [] } = isLost ? account.withLostEvents(() => prepared.make(key)) : prepared.make(key)
  const mustAlert = isJudged(kind) && prepared.operation !== null && kind.alertDespiteOperation === undefined
  const deed: Deed = {
    projectId: account.truth.projectId,
    title: kind.title,
    ref,
    names: [ref, ...names],
    accounts: change.accounts.map(shown => shown.truth),
    atMs,
    hasVerdict: isJudged(kind),
    mustAlert,
    grounds: [],
  }
  truth.deeds.push(deed)
  if (isLost) happened(account.isReadable ? 'a lost notification at a readable account' : 'a lost notification')
  if (isLost && !account.isReadable)
    deed.grounds.push({
      reason: 'its notifications were lost',
      explains: false,
      // Not surely: the notification of another refund of the payment shows its total, from which this one follows.
      begins: { fromMs: atMs },
      mayHide: true,
    })
  if (!change.accounts.every(shown => shown.isConnected))
    deed.grounds.push({ reason: 'made while disconnected', explains: false, begins: { fromMs: atMs }, mayHide: true })
  scheduleLaterChange({ world, random, change, prepared })
  return deed
}

/** Providers give times in whole seconds, so two changes of one object are more than a second apart. */
function scheduleLaterChange({
  world,
  random,
  change,
  prepared,
}: Pick<Task, 'world' | 'random' | 'change' | 'prepared'>): void {
  if (prepared.makeLaterChange === undefined) return
  const makeLaterChange = () => void prepared.makeLaterChange?.()
  if (change.accounts.some(({ sendsHints }) => sendsHints)) world.whenHintsAreRead(random, makeLaterChange)
  else world.clock.schedule(random.between(1_500, 3_000), makeLaterChange)
}
