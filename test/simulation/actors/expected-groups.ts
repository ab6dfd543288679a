import { type LimitInterval, periodOf } from '@backstop/contracts'
import type { createCardProcessor } from '@backstop/simulator'
import { amountOf, nameByAmount, type PreparedChange } from '../../setup/planned-changes/change-kind.ts'
import { wait } from '../world/agenda.ts'
import type { Random } from '../world/random.ts'
import type { Account, Change } from './accounts.ts'
import { Refused } from './api-user.ts'
import { refundsByKey, untilNamed } from './biller-keys.ts'
import type { Customer } from './customer.ts'
import { drawItems, type PlanItem, type Scene } from './plan-items.ts'
import { make } from './software.ts'
import { pickRefund } from './storms.ts'
import { byPeriod, type CappedGroup, type Deed, type Moment } from './truth.ts'
import { confirmed, type World } from './world.ts'

const CAPPED_NUMBER = 9_999
const LIMITED_NUMBER = 15_000
const MINUTE_MS = 60_000
/** Providers give times in whole seconds. */
const SECOND_MS = 1_000

/** Groups of equal refunds of which people expected some. */
export function drawExpectedGroups(scene: Scene): PlanItem[] {
  const { cappedGroups, limitedGroups } = scene.world.swarm()
  return [
    ...drawItems(scene, { name: 'capped group', count: cappedGroups }, makeCappedGroup),
    ...drawItems(scene, { name: 'limited group', count: limitedGroups }, makeLimitedGroup),
  ]
}

/** An expected change covers some of a group of equal refunds. */
async function makeCappedGroup({ world, random, customers }: Scene): Promise<void> {
  const { change, account } = pickRefund({ random, customers })
  const count = random.between(2, 5)
  const covered = random.between(1, count - 1)
  const prepared = Array.from({ length: count }, () => change.kind.prepare(CAPPED_NUMBER))
  const { amount = 0, currency } = prepared[0]!.operation!
  const limits = limitsOf(random, covered, amount)
  const interval = random.chance(0.5) ? random.pick(['day', 'week'] as const) : undefined
  const begins: Moment = { fromMs: world.clock.now }
  const body = { amount, currency, ...limits, ...(interval && { interval }) }
  if (!(await expectRefunds(world, account, begins, body))) return
  const group = { deeds: [] as Deed[], covered, interval }
  world.truth.capped.push(group)
  if (interval !== undefined) await waitForEnd(world, interval, random.between(0, 10_000))
  for (const one of prepared) {
    group.deeds.push(makeExpected({ world, random, change, prepared: one }, begins))
    await wait(world.clock, random.between(0, random.pick([0, 5_000, 20_000])))
  }
  world.happened('a group of changes was expected in part')
  notePeriods(world, group)
}

function notePeriods(world: World, group: CappedGroup): void {
  if (byPeriod(group).length > 1) world.happened('an expected change counted two periods')
}

/** How an expected change covers so many changes of this amount, and no more. */
function limitsOf(random: Random, covered: number, amount: number) {
  return random.chance(0.5)
    ? { max_changes: covered }
    : { max_changes: 100, max_amount: covered * amount + random.between(0, amount - 1) }
}

/** A person adds an expected change for refunds at this account. @returns false if another person has disconnected the account */
async function expectRefunds(world: World, account: Account, begins: Moment, limits: object): Promise<boolean> {
  const { truth, endpoint } = account
  const about = { project_id: truth.projectId, connection_id: endpoint.connectionId, kind: 'refund' }
  const body = { ...about, note: 'Goodwill after the outage', ...limits }
  try {
    await confirmed(world, begins, world.api.post('/v1/expected-changes', body))
    return true
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error
    return false
  }
}

type Expected = Pick<Scene, 'world' | 'random'> & { readonly change: Change; readonly prepared: PreparedChange }

/** Makes a change that an expected change may cover. Which ones of a group it covers is not fixed. */
function makeExpected({ world, random, change, prepared }: Expected, { fromMs }: Moment): Deed {
  const deed = make({ world, random, kind: change.kind, change, prepared })
  deed.grounds.push({ reason: 'an expected change of a group', explains: false, begins: { fromMs } })
  return deed
}

/** Waits until shortly before the end of the period, if that is soon, so that the changes are on both sides of it. */
async function waitForEnd({ clock }: World, interval: LimitInterval, beforeMs: number): Promise<void> {
  const leftMs = periodOf(interval, clock.now).endsAt - clock.now
  if (leftMs < MINUTE_MS) await wait(clock, Math.max(0, leftMs - beforeMs))
}

/** An actor or a customer whose refunds are expected. */
interface Somebody {
  /** The limit of the expected change. */
  readonly only: { readonly actor_id: string } | { readonly customer_id: string }
  /** A refund of anybody. */
  readonly change: Change
  /** Prepares a refund of this actor or customer. */
  prepare(): PreparedChange
}

/** An expected change covers some refunds of an actor or a customer, and none of others. */
async function makeLimitedGroup({ world, random, customers }: Scene): Promise<void> {
  const customer = random.pick(customers)
  const somebody = random.chance(0.5) ? findCustomer(customer) : await findActor({ world, random }, customer)
  if (somebody === undefined) return
  const { change, only, prepare } = somebody
  const interval = random.chance(0.5) ? random.pick(['day', 'week'] as const) : undefined
  const count = random.between(1, interval === undefined ? 3 : 4)
  const covered = random.between(1, interval === undefined ? count : Math.ceil(count / 2))
  const amount = amountOf(LIMITED_NUMBER)
  const begins: Moment = { fromMs: world.clock.now }
  const limits = { amount, currency: 'eur', ...limitsOf(random, covered, amount), ...(interval && { interval }) }
  const starts_at = new Date(begins.fromMs).toISOString()
  if (!(await expectRefunds(world, change.accounts[0]!, begins, { ...only, ...limits, starts_at }))) return
  const group = { deeds: [] as Deed[], covered, interval }
  world.truth.capped.push(group)
  for (let number = 0; number < count; number += 1) {
    if (number === Math.floor(count / 2) && interval !== undefined) await waitForEnd(world, interval, 0)
    const ofOthers = change.kind.prepare(LIMITED_NUMBER)
    make({ world, random, kind: change.kind, change, prepared: ofOthers })
    await wait(world.clock, random.between(0, 5_000))
    group.deeds.push(makeExpected({ world, random, change, prepared: prepare() }, begins))
    await wait(world.clock, random.between(0, random.pick([0, 5_000, 20_000])))
  }
  notePeriods(world, group)
  world.happened('actor_id' in only ? 'changes of an actor were expected' : 'changes of a customer were expected')
}

/** An API key, which is known by its first refund. That one is made before its refunds are expected. */
async function findActor(parts: Pick<Scene, 'world' | 'random'>, customer: Customer): Promise<Somebody | undefined> {
  const change = customer.changes.find(({ kind }) => kind.title === 'a refund of an invoice')!
  if (!change.accounts[0]!.isConnected) return undefined
  const own = refundsByKey(customer, 'Support tool')
  const first = make({ ...parts, kind: own.kind, change: own, prepared: own.kind.prepare(LIMITED_NUMBER) })
  const actorId = await untilNamed(parts.world, first)
  if (actorId === undefined) return undefined
  await wait(parts.world.clock, SECOND_MS)
  return { only: { actor_id: actorId }, change, prepare: () => own.kind.prepare(LIMITED_NUMBER) }
}

function findCustomer({ changes }: Customer): Somebody | undefined {
  const change = changes.find(({ kind }) => kind.title === 'a full refund')!
  const account = change.accounts[0]!
  if (!account.isConnected) return undefined
  const cards = account.account as ReturnType<typeof createCardProcessor>
  const payment = { amount: amountOf(LIMITED_NUMBER), currency: 'eur' }
  const { customer } = cards.createPayment(payment)
  const prepare = (): PreparedChange => {
    const { id } = cards.createPayment({ ...payment, customer }).paymentIntent
    return {
      operation: { kind: 'refund', subject: id, ...payment },
      make: () => ({ ref: cards.refund({ payment_intent: id }).id, names: [nameByAmount(id, payment.amount)] }),
    }
  }
  return { only: { customer_id: customer.id }, change, prepare }
}
