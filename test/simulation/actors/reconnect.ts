import { wait } from '../world/agenda.ts'
import { drawItems, type PlanItem, type Scene } from './plan-items.ts'
import type { Ground, Moment } from './truth.ts'
import { confirmed } from './world.ts'

/** Providers give times in whole seconds. */
const SECOND_MS = 1_000

export function drawReconnects(scene: Scene): PlanItem[] {
  return drawItems(scene, { name: 'reconnect', count: scene.world.swarm().reconnects }, reconnect)
}

/**
 * Disconnects an account and connects it again after a while. Changes made in between are older than each connection that shows them, so they
 * are silent. Earlier changes alert if the new connection shows them too (`nothing_explains_it` in docs/decisions/explaining.md), so a deleted
 * connection hides nothing.
 */
async function reconnect({ world, random, customers }: Scene): Promise<void> {
  const { api, clock, truth, swarm, happened } = world
  const account = random.pick(random.pick(customers).accounts)
  if (account.isBeingChanged) return
  account.isBeingChanged = true
  const isSeen = (known: { readonly accounts: readonly object[] }) => known.accounts.includes(account.truth)
  const deleted: Moment = { fromMs: clock.now }
  const ground: Ground = { reason: 'its connection is deleted', explains: false, begins: deleted, mayHide: true }
  account.truth.grounds.push(ground)
  account.isConnected = false
  const { projectId } = account.truth
  const path = `/v1/projects/${projectId}/connections/${account.endpoint.connectionId}`
  await confirmed(world, deleted, api.delete(path))
  happened('an account was disconnected')
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
    deed.grounds.push({ reason: 'it is older than its connection', explains: false, begins, mayHide: true })
  }
}
