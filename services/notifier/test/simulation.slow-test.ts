/**
 * Simulates the whole notifier under random faults on virtual time: crashes, rebalances, an unavailable database or
 * broker, lost answers, failing receivers. Every alert must reach every channel, and twice only if a process lost a
 * partition between the receiver's answer and its record. The number of seeds is small to keep the test quick; raise it
 * when you change the notifier. The name of a failing test contains its seed; add the seed to REGRESSIONS.
 */

import { alert, webhookChannel } from '@backstop/channels/test'
import type { SendResult } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { createMemoryNotifier } from './memory-notifier.ts'
import { pickBy, randomOf } from './random.ts'

/** Seed 31: a partition was revoked during the intake, and both processes attempted its deliveries. */
const REGRESSIONS: readonly number[] = [31]
const SEEDS = [...REGRESSIONS, ...Array.from({ length: 4 }, (_, index) => index + 1)]
const CHANNELS = ['chn_a', 'chn_b', 'chn_c']
const ALERTS = 12

type Process = Awaited<ReturnType<ReturnType<typeof createMemoryNotifier>['start']>>

/** @param unrest `kills`: a process crashes and another one starts; `rebalances`: a second process starts and stops */
async function simulate(seed: number, unrest: 'none' | 'kills' | 'rebalances') {
  const random = randomOf(seed)
  const pick = pickBy(random)
  let decision: SendResult = 'stored'
  const notifier = createMemoryNotifier({ partitions: 2, sendResultOf: () => decision })
  for (const id of CHANNELS) {
    notifier.collections.channels.set(id, webhookChannel(id, `https://${id.replace('_', '-')}.example.com/`, 'secret'))
  }
  const accepted = new Map<string, string[]>()
  const mayBeDoubled = new Set<string>()
  let trouble = true
  notifier.state.reply = request => {
    if (trouble && random() < 0.3) return pick([500, 429, 'hang' as const])
    const id = request.headers['webhook-id'] as string
    accepted.set(id, [...(accepted.get(id) ?? []), String(request.body)])
    return 200
  }
  const noteUnrecorded = () => {
    for (const id of accepted.keys()) {
      if (notifier.collections.deliveries.get(id)?.state !== 'delivered') mayBeDoubled.add(id)
    }
  }
  let first = await notifier.start()
  let second: Process | undefined
  const stopping: Promise<void>[] = []
  const disturb = async () => {
    noteUnrecorded()
    if (unrest === 'kills') {
      first.kill()
      first = await notifier.start()
    } else if (second === undefined) second = await notifier.start()
    else {
      // Messages accepted during the drain are recorded by the same process if the database is available.
      stopping.push(second.stop().then(noteUnrecorded))
      second = undefined
    }
  }
  for (let step = 0; step < ALERTS * 3; step++) {
    decision = 'stored'
    if (step % 3 === 0) await notifier.publish(alert({ id: `alr_${step / 3}` }))
    decision = pick(['stored', 'stored', 'refused', 'answer_lost'])
    notifier.state.database = pick(['up', 'up', 'away', 'answer_lost'])
    notifier.state.databaseMs = pick([0, 0, 20, 400])
    if (unrest !== 'none' && random() < 0.3) await disturb()
    await notifier.clock.advance(pick([1, 10, 300, 2_000, 8_000]))
  }
  trouble = false
  decision = 'stored'
  notifier.state.database = 'up'
  notifier.state.databaseMs = 0
  await notifier.clock.advance(8 * 3_600_000)
  await Promise.all(stopping)
  return { notifier, accepted, mayBeDoubled }
}

describe.each(SEEDS)('seed %i', seed => {
  test('without a crash every delivery is accepted exactly once', async () => {
    const { notifier, accepted } = await simulate(seed, 'none')
    expect(accepted.size).toBe(ALERTS * CHANNELS.length)
    for (const bodies of accepted.values()) expect(bodies).toHaveLength(1)
    for (const delivery of notifier.collections.deliveries.values()) {
      expect(delivery.state).toBe('delivered')
      expect(delivery.attempts.map(row => row.attempt)).toEqual(delivery.attempts.map((_, index) => index + 1))
    }
    expect(notifier.bus.stored('deliveries.dead')).toEqual([])
    expect(notifier.fatal).toEqual([])
  })

  test.each(['kills', 'rebalances'] as const)(
    'with %s every delivery is accepted, and twice only if its answer was not recorded, with the same bytes',
    async unrest => {
      const { notifier, accepted, mayBeDoubled } = await simulate(seed, unrest)
      expect(accepted.size).toBe(ALERTS * CHANNELS.length)
      for (const bodies of accepted.values()) expect(new Set(bodies).size).toBe(1)
      const doubledPauseMs = [...accepted].filter(([, bodies]) => bodies.length > 1).map(([id]) => id)
      expect(doubledPauseMs.filter(id => !mayBeDoubled.has(id))).toEqual([])
      for (const delivery of notifier.collections.deliveries.values()) expect(delivery.state).toBe('delivered')
      expect(notifier.bus.stored('deliveries.dead')).toEqual([])
      expect(notifier.fatal).toEqual([])
    },
  )
})
