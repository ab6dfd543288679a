/**
 * Dead endpoints must not delay deliveries to other endpoints. Two notifier processes run at the same time with the same load,
 * one with dead endpoints and one without. The limits are high for a busy machine; `npm run bench -- notifier` measures exactly.
 */
import { join } from 'node:path'
import { alert, webhookChannel } from '@backstop/channels/test'
import type { Alert } from '@backstop/contracts'
import { type Receiver, startReceiver, until } from '@backstop/kit/test'
import { afterAll, describe, expect, test } from 'vitest'
import { percentile } from '../../bench/frame/statistics.ts'
import { type NotifierAlone, openNotifierAlone } from '../setup/notifier-alone.ts'
import { dataFolder, stackUrls } from '../setup/product.ts'
import { publishSteadily } from '../setup/steady-load.ts'

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
  const notifier = await openNotifierAlone(`${name}-${process.pid}`, { stack: stackUrls(), folder: join(folder, name) })
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

  test('the other 49 get their messages as fast as if all channels answered', { timeout: 300_000 }, async () => {
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
    expect(oneHangs).toBeLessThan(allAnswer! * 1.2 + 100)
  })
})

describe('10,000 alerts to a dead endpoint', () => {
  const FLOOD = 10_000
  const OTHERS = 10
  const A_SECOND = 5
  const SECONDS = 10

  test('use no more memory than with a live one, and do not delay the others', { timeout: 400_000 }, async () => {
    const { notifier, receiver } = await openTestNotifier('dead-endpoint')
    const gone = await startReceiver()
    await gone.stop()
    const others = Array.from({ length: OTHERS }, (_, index) =>
      webhookChannel(`chn_other_${index}`, `${receiver.url}/other/${index}`, {}, { project_id: 'prj_others' }),
    )
    const flooded = { lives: `${receiver.url}/lives`, refuses: gone.url, hangs: `${receiver.url}/hang` }
    await notifier.putChannels([
      ...others,
      ...Object.entries(flooded).map(([name, url]) =>
        webhookChannel(`chn_${name}`, url, {}, { project_id: `prj_${name}` }),
      ),
    ])
    await notifier.start()

    const flood = async (name: keyof typeof flooded) => {
      let mostBytes = 0
      let isOver = false
      const watch = async () => {
        while (!isOver) {
          mostBytes = Math.max(mostBytes, await notifier.memoryBytes())
          await new Promise(resolve => setTimeout(resolve, 250))
        }
      }
      const watching = watch()
      receiver.requests.length = 0
      const alerts = Array.from({ length: FLOOD }, (_, index) => now(`${name}-${index}`, `prj_${name}`))
      await Promise.all([
        notifier.publish(alerts),
        publishSteadily(notifier.publish, A_SECOND * SECONDS, A_SECOND, index =>
          now(`others-${name}-${index}`, 'prj_others'),
        ),
      ])
      const arrived = () => latenciesMs(receiver, '/other').length
      await until('the deliveries to the other channels', () => arrived() === A_SECOND * SECONDS * OTHERS, {
        timeoutMs: 60_000,
        everyMs: 100,
        seen: arrived,
      })
      await until('all of the flood is on record', async () => (await notifier.recordedFor(`chn_${name}`)) === FLOOD)
      isOver = true
      await watching
      return { mostBytes, p99Ms: percentile(latenciesMs(receiver, '/other'), 0.99) }
    }

    const lives = await flood('lives')
    const refuses = await flood('refuses')
    const hangs = await flood('hangs')
    for (const dead of [refuses, hangs]) {
      expect(dead.mostBytes).toBeLessThan(lives.mostBytes * 1.3)
      expect(dead.p99Ms).toBeLessThan(lives.p99Ms * 1.2 + 1_000)
    }
  })
})
