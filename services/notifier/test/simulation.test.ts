/**
 * The whole notifier under random faults on virtual time: processes that vanish, a database and a broker that are away
 * or whose answers are lost, receivers that fail. Afterwards every alert must have reached every channel, and twice only
 * where a process vanished between an answer and its record. Few seeds, because unit tests are to be quick: raise the number
 * when you change what it tests. A failing seed stands in the test's name; put it into REGRESSIONS.
 */
import type { SendFate } from '@backstop/kit'
import { describe, expect, test } from 'vitest'
import { alert, webhookChannel } from './fixtures.ts'
import { createMemoryNotifier } from './memory-notifier.ts'
import { pickBy, randomOf } from './random.ts'

const REGRESSIONS: readonly number[] = []
const SEEDS = [...REGRESSIONS, ...Array.from({ length: 6 }, (_, index) => index + 1)]
const CHANNELS = ['chn_a', 'chn_b', 'chn_c']
const ALERTS = 12

async function simulate(seed: number, withKills: boolean) {
  const random = randomOf(seed)
  const pick = pickBy(random)
  let fate: SendFate = 'stored'
  const notifier = createMemoryNotifier({ partitions: 2, fateOf: () => fate })
  for (const id of CHANNELS) {
    notifier.collections.channels.set(id, webhookChannel(id, `https://${id.replace('_', '-')}.example.com/`, 'secret'))
  }
  const accepted = new Map<string, string[]>()
  let trouble = true
  notifier.state.reply = request => {
    if (trouble && random() < 0.3) return pick([500, 429, 'hang' as const])
    const id = request.headers['webhook-id'] as string
    accepted.set(id, [...(accepted.get(id) ?? []), String(request.body)])
    return 200
  }
  let process = await notifier.start()
  for (let step = 0; step < ALERTS * 3; step++) {
    fate = 'stored'
    if (step % 3 === 0) await notifier.publish(alert({ id: `alr_${step / 3}` }))
    fate = pick(['stored', 'stored', 'refused', 'answer_lost'])
    notifier.state.database = pick(['up', 'up', 'away', 'answer_lost'])
    if (withKills && random() < 0.3) {
      process.kill()
      process = await notifier.start()
    }
    await notifier.clock.advance(pick([1, 10, 300, 2_000, 8_000]))
  }
  trouble = false
  fate = 'stored'
  notifier.state.database = 'up'
  await notifier.clock.advance(8 * 3_600_000)
  return { notifier, accepted }
}

describe.each(SEEDS)('seed %i', seed => {
  test('without a crash every delivery is accepted exactly once', async () => {
    const { notifier, accepted } = await simulate(seed, false)
    expect(accepted.size).toBe(ALERTS * CHANNELS.length)
    for (const bodies of accepted.values()) expect(bodies).toHaveLength(1)
    for (const delivery of notifier.collections.deliveries.values()) {
      expect(delivery.state).toBe('delivered')
      expect(delivery.attempts.map(row => row.attempt)).toEqual(delivery.attempts.map((_, index) => index + 1))
    }
    expect(notifier.bus.stored('deliveries.dead')).toEqual([])
    expect(notifier.fatal).toEqual([])
  })

  test('with processes that vanish every delivery is accepted, always under the same id with the same bytes', async () => {
    const { notifier, accepted } = await simulate(seed, true)
    expect(accepted.size).toBe(ALERTS * CHANNELS.length)
    for (const bodies of accepted.values()) expect(new Set(bodies).size).toBe(1)
    for (const delivery of notifier.collections.deliveries.values()) expect(delivery.state).toBe('delivered')
    expect(notifier.bus.stored('deliveries.dead')).toEqual([])
  })
})
