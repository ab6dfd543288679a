import { wait } from '../world/agenda.ts'
import type { Account, Change } from './accounts.ts'
import { drawItems, type PlanItem, type Scene } from './plan-items.ts'
import { make } from './software.ts'
import type { Deed } from './truth.ts'

const FIRST_NUMBER = 10_000
const LEAKED_NUMBER = 12_000
const LEAKED_PAUSE_MS = 40
const MINUTE_MS = 60_000

/** Bursts of unexplained refunds. */
export function drawStorms(scene: Scene): PlanItem[] {
  return drawItems(scene, { name: 'storm', count: scene.world.swarm().storms }, makeStorm)
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

export function pickRefund({ random, customers }: Pick<Scene, 'random' | 'customers'>): {
  change: Change
  account: Account
} {
  const refunds = random.pick(customers).changes.filter(({ kind }) => kind.title.startsWith('a full refund'))
  const change = random.pick(refunds)
  return { change, account: change.accounts[0]! }
}
