import { type LimitInterval, periodOf } from '@backstop/contracts'
import { wait } from '../world/agenda.ts'
import type { Account, Change } from './accounts.ts'
import { Refused } from './api-user.ts'
import { drawItems, type PlanItem, type Scene } from './plan-items.ts'
import { make } from './software.ts'
import { byPeriod, type Deed, type Moment } from './truth.ts'
import { confirmed } from './world.ts'

const FIRST_NUMBER = 10_000
const LEAKED_NUMBER = 12_000
const LEAKED_PAUSE_MS = 40
const MINUTE_MS = 60_000

/** Bursts of unexplained refunds, and groups of refunds of which people expected only some. */
export function drawStorms(scene: Scene): PlanItem[] {
  const { storms, cappedGroups } = scene.world.swarm()
  return [
    ...drawItems(scene, { name: 'storm', count: storms }, makeStorm),
    ...drawItems(scene, { name: 'capped group', count: cappedGroups }, makeCappedGroup),
  ]
}

/** Ten to forty unexplained refunds of one account within a minute. */
async function makeStorm({ world, random, customers }: Scene): Promise<void> {
  const { change } = pickRefund({ random, customers })
  const count = random.between(10, 40)
  world.happened('a storm')
  for (let number = 0; number < count; number += 1) {
    const prepared = change.kind.prepare(FIRST_NUMBER + number)
    make({ world, random, kind: change.kind, change, prepared })
    await wait(world.clock, random.between(0, (2 * MINUTE_MS) / count / 2))
  }
}

/** A leaked key refunds 25 payments a second, at an account whose notifications are judged as they come. */
export async function useLeakedKey({ world, random, customers }: Scene): Promise<void> {
  const plain = random
    .pick(customers)
    .changes.filter(({ kind, accounts }) => kind.title.startsWith('a full refund') && accounts.length === 1)
    .filter(({ accounts: [account] }) => account?.isConnected === true && !account.sendsHints)
  if (plain.length === 0) return
  const change = random.pick(plain)
  const account = change.accounts[0]!
  const count = random.between(10, 30)
  const deeds: Deed[] = []
  const { connectionId } = account.endpoint
  world.truth.leaked.push({ connectionId, account: account.truth, deeds, hasAlarm: account.hasBurstAlarm })
  for (let number = 0; number < count; number += 1) {
    const prepared = change.kind.prepare(LEAKED_NUMBER + number)
    deeds.push(make({ world, random, kind: change.kind, change, prepared }))
    await wait(world.clock, LEAKED_PAUSE_MS)
  }
  world.happened('a key was leaked')
}

/** An expected change covers some of a group of equal refunds. */
async function makeCappedGroup({ world, random, customers }: Scene): Promise<void> {
  const { change, account } = pickRefund({ random, customers })
  const count = random.between(2, 5)
  const covered = random.between(1, count - 1)
  const prepared = Array.from({ length: count }, () => change.kind.prepare(FIRST_NUMBER - 1))
  const { amount = 0, currency } = prepared[0]!.operation!
  const limits = random.chance(0.5)
    ? { max_changes: covered }
    : { max_changes: 100, max_amount: covered * amount + random.between(0, amount - 1) }
  const interval = random.chance(0.5) ? random.pick(['day', 'week'] as const) : undefined
  const begins: Moment = { fromMs: world.clock.now }
  const body = {
    project_id: account.truth.projectId,
    connection_id: account.endpoint.connectionId,
    kind: 'refund',
    amount,
    currency,
    note: 'Goodwill after the outage',
    ...limits,
    ...(interval === undefined ? {} : { interval }),
  }
  try {
    await confirmed(world, begins, world.api.post('/v1/expected-changes', body))
  } catch (error) {
    // Another person has disconnected the account.
    if (!(error instanceof Refused) || error.status !== 404) throw error
    return
  }
  const deeds: Deed[] = []
  world.truth.capped.push({ deeds, covered, interval })
  if (interval !== undefined) await waitForEnd(world, interval, random.between(0, 10_000))
  for (const one of prepared) {
    const deed = make({ world, random, kind: change.kind, change, prepared: one })
    // Which of them it covers is not fixed.
    deed.grounds.push({ reason: 'an expected change of a group', explains: false, begins: { fromMs: begins.fromMs } })
    deeds.push(deed)
    await wait(world.clock, random.between(0, random.pick([0, 5_000, 20_000])))
  }
  world.happened('a group of changes was expected in part')
  if (byPeriod({ deeds, interval }).length > 1) world.happened('an expected change counted two periods')
}

/** Waits until shortly before the end of the period, if that is soon, so that the changes are on both sides of it. */
async function waitForEnd({ clock }: Scene['world'], interval: LimitInterval, beforeMs: number): Promise<void> {
  const leftMs = periodOf(interval, clock.now).endsAt - clock.now
  if (leftMs < MINUTE_MS) await wait(clock, Math.max(0, leftMs - beforeMs))
}

function pickRefund({ random, customers }: Pick<Scene, 'random' | 'customers'>): { change: Change; account: Account } {
  const refunds = random.pick(customers).changes.filter(({ kind }) => kind.title.startsWith('a full refund'))
  const change = random.pick(refunds)
  return { change, account: change.accounts[0]! }
}
