import { wait } from '../world/agenda.ts'
import type { Account } from './accounts.ts'
import { drawItems, type PlanItem, type Scene } from './plan-items.ts'
import { type Ground, type Moment, OLDER_THAN_ITS_CONNECTION } from './truth.ts'
import { confirmed, type World } from './world.ts'

/** Providers give times in whole seconds. */
const SECOND_MS = 1_000

export function drawReconnects(scene: Scene): PlanItem[] {
  const { reconnects, departures } = scene.world.swarm()
  return [
    ...drawItems(scene, { name: 'reconnect', count: reconnects }, reconnect),
    ...drawItems(scene, { name: 'departure', count: departures }, depart),
  ]
}

/** Disconnects an account for good. After a while its endpoint is removed at the provider, too. */
async function depart({ world, random, customers }: Scene): Promise<void> {
  const account = random.pick(random.pick(customers).accounts)
  if (account.isBeingChanged) return
  const { deleted } = await disconnect(world, account)
  world.truth.departed.push({ connectionId: account.endpoint.connectionId, atMs: deleted.toMs! })
  await wait(world.clock, random.between(0, 60_000))
  account.notifications.removeEndpoint()
}

async function disconnect(world: World, account: Account): Promise<{ ground: Ground; deleted: Moment }> {
  account.isBeingChanged = true
  const deleted: Moment = { fromMs: world.clock.now }
  const ground: Ground = { reason: 'its connection is deleted', explains: false, begins: deleted, mayHide: true }
  account.truth.grounds.push(ground)
  account.isConnected = false
  const { projectId } = account.truth
  const path = `/v1/projects/${projectId}/connections/${account.endpoint.connectionId}`
  await confirmed(world, deleted, world.api.delete(path))
  world.happened('an account was disconnected')
  return { ground, deleted }
}

/**
 * Disconnects an account and connects it again after a while. Changes made in between are older than each connection that shows them, so they
 * are silent. Earlier changes alert if the new connection shows them too (`nothing_explains_it` in docs/decisions/explaining.md), so a deleted
 * connection hides nothing.
 */
async function reconnect({ world, random, customers }: Scene): Promise<void> {
  const { clock, truth, swarm, happened } = world
  const account = random.pick(random.pick(customers).accounts)
  if (account.isBeingChanged) return
  const isSeen = (known: { readonly accounts: readonly object[] }) => known.accounts.includes(account.truth)
  const { ground, deleted } = await disconnect(world, account)
  await wait(clock, random.between(0, 60_000))
  const connected: Moment = { fromMs: clock.now }
  ground.ends = connected
  await account.connect()
  connected.toMs = clock.now
  account.isBeingChanged = false
  happened('an account was connected again')
  const doubtMs = SECOND_MS + 2 * swarm().clockMs
  for (const deed of truth.deeds.filter(isSeen)) {
    const isBetween = deed.atMs > deleted.toMs! && deed.atMs < connected.fromMs - doubtMs
    const isOlder = deed.accounts.length === 1 && isBetween
    const begins = { fromMs: deleted.fromMs, ...(isOlder ? { toMs: deleted.toMs! } : {}) }
    deed.grounds.push({ reason: OLDER_THAN_ITS_CONNECTION, explains: false, begins, mayHide: true })
  }
}
