import { wait } from '../world/agenda.ts'
import { drawItems, type PlanItem, type Scene } from './plan-items.ts'

/** Outages of providers and receivers, and providers whose answers are older than their events. */
export function drawOutages(scene: Scene): PlanItem[] {
  const { outages, lags, rateLimit, receiverOutages, removedReceivers } = scene.world.swarm()
  const limited = drawItems(scene, { name: 'rate limit', count: Math.sign(rateLimit) }, limitRate)
  return [
    ...limited,
    ...drawItems(scene, { name: 'outage', count: outages }, failProvider),
    ...drawItems(scene, { name: 'lag', count: lags }, lagProvider),
    ...drawItems(scene, { name: 'receiver outage', count: receiverOutages }, failReceiver),
    ...drawItems(scene, { name: 'removed receiver', count: removedReceivers }, removeReceiver),
  ]
}

/** A provider's API is down for about a minute. Its notifications go on. */
async function failProvider({ world, random, customers, outside }: Scene, _: number, leftMs: number): Promise<void> {
  const { providerApi } = random.pick(random.pick(customers).accounts)
  outside.setDown(providerApi, true)
  world.happened("an outage of a provider's API")
  await wait(world.clock, Math.min(leftMs, random.between(30_000, 90_000)))
  outside.setDown(providerApi, false)
}

/** New objects are missing and lists are empty for a while, and changed objects are read as they were before. Notifications get lost, too. */
async function lagProvider({ world, random, customers }: Scene, _: number, leftMs: number): Promise<void> {
  const account = random.pick(random.pick(customers).accounts)
  const { providerApi } = account
  providerApi.lagReads(random.between(1_000, 20_000))
  account.isLagging = true
  world.happened('a provider answered with an older state')
  await wait(world.clock, Math.min(leftMs, random.between(10_000, 60_000)))
  providerApi.lagReads(0)
  account.isLagging = false
}

/** All providers accept only a few calls in ten seconds. */
async function limitRate({ world, customers }: Scene, _: number, leftMs: number): Promise<void> {
  const limit = { calls: world.swarm().rateLimit, perMs: 10_000, of: 'account' } as const
  const apis = customers.flatMap(({ accounts }) => accounts.map(({ providerApi }) => providerApi))
  for (const api of apis) api.limitRate([limit])
  world.happened('providers limited the rate')
  await wait(world.clock, leftMs)
  for (const api of apis) api.limitRate([])
}

async function failReceiver({ world, random, customers, outside }: Scene, _: number, leftMs: number): Promise<void> {
  const host = random.pick(random.pick(customers).hosts)
  outside.receivers.setDown(host, true)
  world.happened('an outage of a receiver')
  await wait(world.clock, Math.min(leftMs, random.between(10_000, 90_000)))
  outside.receivers.setDown(host, false)
}

/** The second receiver of a project answers 410 from now on. */
async function removeReceiver({ random, customers, outside }: Scene): Promise<void> {
  outside.receivers.remove(random.pick(customers).hosts.at(-1)!)
}
