/**
 * Simulates the messages of incidents under random faults on virtual time: failing receivers, an unavailable database
 * or broker, lost answers, crashes. No channel receives "resolved" before "opened", and each receives both, in one
 * message or in two. The name of a failing test contains its seed; add the seed to REGRESSIONS.
 */

import { incidentAlerts, webhookChannel } from '@backstop/channels/test'
import type { SendResult } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { createMemoryNotifier } from './memory-notifier.ts'
import { pickBy, randomOf } from './random.ts'

const REGRESSIONS: readonly number[] = []
const SEEDS = [...REGRESSIONS, ...Array.from({ length: 6 }, (_, index) => index + 1)]
const CHANNELS = ['chn_a', 'chn_b']
const INCIDENTS = 10

interface ReceivedMessage {
  event: string
  supersedes: string | undefined
}

async function simulate(seed: number, withKills: boolean) {
  const random = randomOf(seed)
  const pick = pickBy(random)
  let decision: SendResult = 'stored'
  const notifier = createMemoryNotifier({ partitions: 2, sendResultOf: () => decision })
  for (const id of CHANNELS) {
    const url = `https://${id.replace('_', '-')}.example.com/`
    const events = ['incident.opened', 'incident.resolved'] as const
    notifier.collections.channels.set(id, webhookChannel(id, url, undefined, { events: [...events] }))
  }
  const received = new Map<string, ReceivedMessage[]>()
  let trouble = true
  notifier.state.reply = request => {
    if (trouble && random() < 0.5) return pick([500, 429, 502, 'hang' as const])
    const { event, data } = JSON.parse(String(request.body))
    const key = `${request.url} ${data.incident.incident_id}`
    received.set(key, [...(received.get(key) ?? []), { event, supersedes: data.supersedes }])
    return 200
  }
  let process = await notifier.start()
  for (let step = 0; step < INCIDENTS * 3; step++) {
    decision = 'stored'
    if (step < INCIDENTS) await notifier.publish(incidentAlerts(`inc_${step}`).opened)
    // Most incidents are resolved a few steps after their opening, some twice, some only at the end.
    const resolves = step - pick([1, 2, 3])
    if (resolves >= 0 && resolves < INCIDENTS) await notifier.publish(incidentAlerts(`inc_${resolves}`).resolved)
    decision = pick(['stored', 'stored', 'refused', 'answer_lost'])
    notifier.state.database = pick(['up', 'up', 'away', 'answer_lost'])
    if (withKills && random() < 0.3) {
      process.kill()
      process = await notifier.start()
    }
    await notifier.clock.advance(pick([1, 10, 300, 2_000, 8_000, 70_000]))
  }
  trouble = false
  decision = 'stored'
  notifier.state.database = 'up'
  for (let index = 0; index < INCIDENTS; index++) await notifier.publish(incidentAlerts(`inc_${index}`).resolved)
  await notifier.clock.advance(8 * 3_600_000)
  return { notifier, received }
}

describe.each(SEEDS)('seed %i', seed => {
  test.each([
    { name: 'without a crash', withKills: false },
    { name: 'with processes that vanish', withKills: true },
  ])(
    '$name no channel hears "resolved" before "opened", and each hears of both',
    { timeout: 60_000 },
    async ({ withKills }) => {
      const { notifier, received } = await simulate(seed, withKills)
      const ours = [...received].filter(([key]) => Number(key.split('inc_')[1]) < INCIDENTS)
      expect(ours).toHaveLength(INCIDENTS * CHANNELS.length)
      for (const [key, messages] of ours) {
        const first = messages[0] as ReceivedMessage
        // The first message is "opened", or a "resolved" that announces both.
        if (first.event === 'incident.resolved') expect(first.supersedes, key).toBeDefined()
        const resolvedFrom = messages.findIndex(message => message.event === 'incident.resolved')
        expect(resolvedFrom, key).toBeGreaterThanOrEqual(0)
        expect(messages.slice(resolvedFrom).map(message => message.event)).not.toContain('incident.opened')
        if (!withKills) expect(messages.length, key).toBe(first.event === 'incident.resolved' ? 1 : 2)
      }
      for (const delivery of notifier.collections.deliveries.values()) {
        expect(['delivered', 'superseded'], delivery._id).toContain(delivery.state)
      }
      expect(notifier.bus.stored('deliveries.dead')).toEqual([])
      expect(notifier.fatal).toEqual([])
    },
  )
})
