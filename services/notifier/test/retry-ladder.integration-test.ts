/**
 * The breaker and the retry ladder as docs/channels.md describes them, on real Kafka, MongoDB and HTTP. The worked
 * example of that page is the first test of this file.
 */

import { alert, webhookChannel } from '@backstop/channels/test'
import type { ChannelHealthDocument } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startRealNotifier } from './real-notifier.ts'

let notifier: Awaited<ReturnType<typeof startRealNotifier>>
let sequence = 0

beforeAll(async () => {
  notifier = await startRealNotifier()
})
afterAll(() => notifier?.stop())

/** A webhook channel whose receiver answers 500 until `repair` is called, and the times of its requests. */
async function openFailingChannel() {
  const index = ++sequence
  const project = `prj_ladder_${index}`
  const channelId = `chn_ladder_${index}`
  const times: number[] = []
  let status = 500
  let repairedAtMs = 0
  const receiver = await notifier.receiver((_request, response) => {
    times.push(Date.now())
    response.writeHead(status).end()
  })
  await notifier.put(webhookChannel(channelId, `${receiver.url}/`, undefined, { project_id: project }))
  const deliveries = () => notifier.deliveries.find({ channel_id: channelId }).sort({ created_at: 1, _id: 1 }).toArray()
  return {
    channelId,
    times,
    deliveries,
    health: () => notifier.db.collection<ChannelHealthDocument>('channel_health').findOne({ _id: channelId }),
    repairedAtMs: () => repairedAtMs,
    repair() {
      status = 200
      repairedAtMs = Date.now()
    },
    publish: (count: number, from = 0) =>
      notifier.publish(
        ...Array.from({ length: count }, (_, at) =>
          alert({ id: `alr_${index}_${from + at}`, project, at: new Date().toISOString() }),
        ),
      ),
    untilAll: (what: string, holds: (one: Awaited<ReturnType<typeof deliveries>>[number]) => boolean, count: number) =>
      until(
        `${count} deliveries ${what}`,
        async () => {
          const found = await deliveries()
          return found.length === count && found.every(holds) && found
        },
        { timeoutMs: 60_000, everyMs: 20 },
      ),
  }
}

describe('eight alerts to a receiver that answers 500', () => {
  test('get their first attempt at once, are held with a reason, and arrive after the first success', async () => {
    const channel = await openFailingChannel()
    await channel.publish(8)
    const attempted = await channel.untilAll('were attempted', one => one.attempts.length > 0, 8)
    const beganAtMs = Math.min(...attempted.map(one => one.attempts[0]?.at.getTime() ?? 0))
    for (const one of attempted) expect((one.attempts[0]?.at.getTime() ?? 0) - beganAtMs).toBeLessThan(2_000)
    const held = await until('the pause is recorded', async () => (await channel.health())?.held)
    expect(held.reason).toBe('failing')
    const pauseMs = held.until.getTime() - beganAtMs
    expect(pauseMs).toBeGreaterThan(4_500)
    expect(pauseMs).toBeLessThan(7_000)

    // The first pause ends, one retry fails, and the other retries are held for ten more seconds.
    const second = await until(
      'the second pause is recorded',
      async () => {
        const now = (await channel.health())?.held
        return now != null && now.until > held.until && now
      },
      { timeoutMs: 15_000 },
    )
    expect(second.until.getTime() - second.since.getTime()).toBe(10_000)
    expect(channel.times).toHaveLength(9)
    channel.repair()
    const delivered = await channel.untilAll('are delivered', one => one.state === 'delivered', 8)
    const arrivals = delivered.map(one => one.attempts.at(-1)?.at.getTime() ?? 0)
    const firstMs = Math.min(...arrivals)
    expect(firstMs).toBeGreaterThanOrEqual(second.until.getTime() - 50)
    const releasedInMs = Math.max(...arrivals) - firstMs
    expect(releasedInMs).toBeLessThan(1_000)
    await until('the pause is over', async () => (await channel.health())?.held === undefined)
  })
})

test('sixty held alerts arrive soon after the first success, before the delay lines bring them, each once', async () => {
  const channel = await openFailingChannel()
  await channel.publish(60)
  await until(
    'the channel is paused for the second time',
    async () => {
      const held = (await channel.health())?.held
      return held !== undefined && held.until.getTime() - held.since.getTime() === 10_000
    },
    { timeoutMs: 30_000 },
  )
  const before = channel.times.length
  expect(before).toBeLessThan(60)
  channel.repair()
  const delivered = await channel.untilAll('are delivered', one => one.state === 'delivered', 60)
  const arrivals = delivered.map(one => one.attempts.at(-1)?.at.getTime() ?? 0)
  expect(Math.max(...arrivals) - Math.min(...arrivals)).toBeLessThan(9_000)
  // The messages on the delay lines follow and must not repeat an attempt.
  await channel.publish(1, 60)
  await until('a later alert is delivered', async () => channel.times.length - before >= 61)
  await new Promise(resolve => setTimeout(resolve, 6_000))
  expect(channel.times.length - before).toBe(61)
})
