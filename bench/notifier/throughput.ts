/** Measures deliveries per second from a full topic, compared with loops that do less. */
import { join } from 'node:path'
import { webhookChannel } from '@backstop/channels/test'
import { type NotifierAlone, openNotifierAlone } from '../../test/setup/notifier-alone.ts'
import type { BenchSurroundings, Comparison } from '../frame/benchmark.ts'
import { startChild } from '../frame/children.ts'
import { benchRequest } from './load.ts'
import type { BenchReceiver } from './receiver.ts'

/** Number of channels, each in its own project. */
export const CHANNELS = 50
/** The notifier's concurrency for these webhook channels: four requests each. */
const CONCURRENCY = CHANNELS * 4
const DELIVERIES = 60_000
/** Number of bodies for the post-only run: more than deliveries, because posting alone is faster. */
const POSTS = 120_000
/** The unmeasured shares of each run: the warm-up, and the end, where some channels have no work left. */
const WARM_UP = 0.4
const TAIL = 0.1
const WITHIN_MS = 120_000

export async function openThroughput(surroundings: BenchSurroundings, receiver: BenchReceiver) {
  const worlds = {
    notifier: await openNotifierAlone('notifier', surroundings),
    bareLoop: await openNotifierAlone('bare-loop', surroundings),
  }
  await worlds.notifier.putChannels(
    Array.from({ length: CHANNELS }, (_, index) =>
      webhookChannel(`chn_${index}`, `${receiver.url}/channel/${index}`, 'whsec_c2VjcmV0IG9mIHRoZSBiZW5jaG1hcms=', {
        project_id: `prj_${index}`,
      }),
    ),
  )
  const comparison: Comparison = {
    name: 'Throughput from a full topic',
    readings: { deliveries: '/s', 'processor time for one': 'µs' },
    contenders: [
      { name: 'notifier', measure: () => measureNotifier(worlds.notifier, receiver) },
      { name: 'bare loop', measure: () => measureBareLoop(worlds.bareLoop, receiver, surroundings) },
      { name: 'undici alone', measure: () => measurePosting(receiver, surroundings) },
    ],
    targets: [
      { reading: 'deliveries', of: 'notifier', against: 'bare loop', is: 'at least', value: 0.75 },
      { reading: 'deliveries', of: 'notifier', is: 'at least', value: 6_500 },
    ],
  }
  return {
    comparison,
    notifier: worlds.notifier,
    stop: () => Promise.all(Object.values(worlds).map(world => world.close())),
  }
}

async function measureNotifier(world: NotifierAlone, receiver: BenchReceiver) {
  await publishDeliveries(world)
  const count = await startCounting(receiver, DELIVERIES)
  await world.start()
  const readings = await count(() => world.cpuMs())
  await world.expectDelivered(DELIVERIES)
  await world.stop()
  return readings
}

async function measureBareLoop(world: NotifierAlone, receiver: BenchReceiver, { stack, folder }: BenchSurroundings) {
  await publishDeliveries(world)
  const count = await startCounting(receiver, DELIVERIES)
  const env = {
    BROKERS: stack.kafka,
    TOPIC: `${world.topicPrefix}deliveries`,
    MONGO: stack.mongo,
    DB: world.database,
    RECEIVER: receiver.url,
    CONCURRENCY: String(CONCURRENCY),
  }
  const child = startChild(new URL('bare-loop-main.ts', import.meta.url), env, join(folder, 'bare-loop.log'))
  const readings = await count(() => child.cpuMs())
  await world.expectDelivered(DELIVERIES)
  await child.stop()
  return readings
}

async function measurePosting(receiver: BenchReceiver, { folder }: BenchSurroundings) {
  const count = await startCounting(receiver, POSTS)
  const env = { RECEIVER: receiver.url, CONCURRENCY: String(CONCURRENCY), COUNT: String(POSTS) }
  const child = startChild(new URL('post-only-main.ts', import.meta.url), env, join(folder, 'post-only.log'))
  const readings = await count(() => child.cpuMs())
  await child.stop()
  return readings
}

let filled = 0

/** Publishes deliveries of new alerts, one channel after the other. */
async function publishDeliveries(world: NotifierAlone): Promise<void> {
  const round = ++filled
  await world.request(
    Array.from({ length: DELIVERIES }, (_, index) =>
      benchRequest(`${round}-${index}`, `prj_${index % CHANNELS}`, `chn_${index % CHANNELS}`),
    ),
  )
}

/**
 * Makes the receiver count requests. @returns a function that waits for the last counted request and returns the
 * readings
 */
async function startCounting(receiver: BenchReceiver, total: number) {
  const warmUp = total * WARM_UP
  const count = total * (1 - TAIL)
  await receiver.expect({ count, warmUp, readsBodies: false })
  return async (cpuMs: () => Promise<number>) => {
    await receiver.warmedUp(WITHIN_MS)
    const cpuBeforeMs = await cpuMs()
    const { tookMs } = await receiver.received(WITHIN_MS)
    const usedMs = (await cpuMs()) - cpuBeforeMs
    const counted = count - warmUp
    return { deliveries: (counted / tookMs) * 1_000, 'processor time for one': (usedMs / counted) * 1_000 }
  }
}
