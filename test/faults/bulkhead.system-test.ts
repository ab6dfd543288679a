/**
 * Dead endpoints must not delay deliveries to other endpoints. Notifier processes run at the same time with the same load, so that a busy
 * machine slows them down alike: one without dead endpoints, and the others with them. A dead endpoint that delayed others would delay them by
 * its timeout of ten seconds. `npm run bench -- notifier` measures exactly.
 */
import { join } from 'node:path'
import { alert, webhookChannel } from '@backstop/channels/test'
import type { Alert } from '@backstop/contracts'
import { type Receiver, startReceiver, until } from '@backstop/kit/test'
import { afterAll, describe, expect, test } from 'vitest'
import { percentile } from '../../bench/frame/statistics.ts'
import { type NotifierAlone, openNotifierAlone } from '../setup/notifier-alone.ts'
import { dataFolder, FEW_PARTITIONS, stackUrls } from '../setup/product.ts'
import { IS_SOAK } from '../setup/soak.ts'
import { publishSteadily } from '../setup/steady-load.ts'

/** More than the noise of a busy machine, and less than the timeout of a dead endpoint. */
const MORE_MS = 2_000
const stops: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

async function openTestNotifier(name: string): Promise<{ notifier: NotifierAlone; receiver: Receiver }> {
  const receiver = await startReceiver((request, response) => {
    if (!request.path.startsWith('/hang')) response.writeHead(200).end('ok')
  })
  stops.push(() => receiver.stop())
  const folder = dataFolder(name)
  const notifier = await openNotifierAlone(`${name}-${process.pid}`, {
    stack: stackUrls(),
    folder: join(folder, name),
    provision: FEW_PARTITIONS,
  })
  stops.push(() => notifier.close())
  return { notifier, receiver }
}

/** Milliseconds from each alert to its request, for requests to paths that match. */
function latenciesMs(receiver: Receiver, path: string): number[] {
  return receiver.requests
    .filter(request => request.path.startsWith(path))
    .map(({ atMs, body }) => atMs - Date.parse((JSON.parse(String(body)) as Alert).created_at))
}

const now = (id: string, project: string) => alert({ id, project, at: new Date().toISOString() })

describe('one of 50 channels hangs', () => {
  const ALERTS = 50
  const A_SECOND = 5
  const UNCOUNTED = 10
  const OTHERS = 49

  async function openHouse(name: string, first: string) {
    const scene = await openTestNotifier(name)
    const { notifier, receiver } = scene
    const paths = [first, ...Array.from({ length: OTHERS }, (_, index) => `/answers/${index}`)]
    await notifier.putChannels(
      paths.map((path, index) => webhookChannel(`chn_${index}`, receiver.url + path, {}, { project_id: 'prj_1' })),
    )
    await notifier.start()
    return scene
  }

  test('the other 49 get their messages as fast as if all channels answered', async () => {
    const houses = [await openHouse('all-answer', '/uncounted'), await openHouse('one-hangs', '/hang')]
    let first = 0
    const publishToBoth = async (alerts: readonly Alert[]) => {
      first = 1 - first
      await Promise.all([houses[first], houses[1 - first]].map(house => house?.notifier.publish(alerts)))
    }
    const deliver = async (name: string, count: number) => {
      for (const { receiver } of houses) receiver.requests.length = 0
      await publishSteadily(publishToBoth, count, A_SECOND, index => now(`${name}-${index}`, 'prj_1'))
      const arrived = () => houses.every(({ receiver }) => latenciesMs(receiver, '/answers').length === count * OTHERS)
      await until('all have come', arrived, { timeoutMs: 60_000, everyMs: 100 })
    }
    await deliver('warm-up', UNCOUNTED)
    expect(houses[1]?.receiver.requests.some(request => request.path === '/hang')).toBe(true)
    await deliver('counted', ALERTS)
    const [allAnswer, oneHangs] = houses.map(({ receiver }) => percentile(latenciesMs(receiver, '/answers'), 0.99))
    expect(oneHangs).toBeLessThan(allAnswer! * 1.2 + MORE_MS)
  })
})

describe('a flood of alerts to a dead endpoint', () => {
  const FLOOD = IS_SOAK ? 10_000 : 4_000
  const OTHERS = 10
  const A_SECOND = 5
  const SECONDS = 6

  /** Floods one channel of a new notifier. @returns the most memory, and the delay of the alerts to the other channels */
  async function flood(name: string, urlOf: (receiver: Receiver) => string) {
    const { notifier, receiver } = await openTestNotifier(name)
    const others = Array.from({ length: OTHERS }, (_, index) =>
      webhookChannel(`chn_other_${index}`, `${receiver.url}/other/${index}`, {}, { project_id: 'prj_others' }),
    )
    const flooded = webhookChannel('chn_flooded', urlOf(receiver), {}, { project_id: 'prj_flooded' })
    await notifier.putChannels([...others, flooded])
    await notifier.start()
    let mostBytes = 0
    let isOver = false
    const watch = async () => {
      while (!isOver) {
        mostBytes = Math.max(mostBytes, await notifier.memoryBytes())
        await new Promise(resolve => setTimeout(resolve, 250))
      }
    }
    const watching = watch()
    await Promise.all([
      notifier.publish(Array.from({ length: FLOOD }, (_, index) => now(`flood-${index}`, 'prj_flooded'))),
      publishSteadily(notifier.publish, A_SECOND * SECONDS, A_SECOND, index => now(`others-${index}`, 'prj_others')),
    ])
    const arrived = () => latenciesMs(receiver, '/other').length
    await until('the deliveries to the other channels', () => arrived() === A_SECOND * SECONDS * OTHERS, {
      timeoutMs: 60_000,
      everyMs: 100,
      seen: arrived,
    })
    const recorded = () => notifier.recordedFor('chn_flooded')
    await until('all of the flood is on record', async () => (await recorded()) === FLOOD, {
      timeoutMs: 120_000,
      seen: recorded,
    })
    isOver = true
    await watching
    return { mostBytes, p99Ms: percentile(latenciesMs(receiver, '/other'), 0.99) }
  }

  test('use no more memory than with a live one, and do not delay the others', async () => {
    const closed = await startReceiver()
    await closed.stop()
    const [lives, refuses, hangs] = await Promise.all([
      flood('lives', receiver => `${receiver.url}/lives`),
      flood('refuses', () => closed.url),
      flood('hangs', receiver => `${receiver.url}/hang`),
    ])
    for (const dead of [refuses, hangs]) {
      expect(dead.mostBytes).toBeLessThan(lives.mostBytes * 1.3)
      expect(dead.p99Ms).toBeLessThan(lives.p99Ms * 1.2 + MORE_MS)
    }
  })
})
