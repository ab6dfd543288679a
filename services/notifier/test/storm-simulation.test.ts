/**
 * Simulates a storm under random faults on virtual time: crashes, an unavailable database or broker, lost answers, two
 * notifiers. Programs get each alert. People get each action once: alone, or in the totals of the storm. The name of a
 * failing test contains its seed; add the seed to REGRESSIONS.
 */

import { alert, emailChannel, PROJECT, sampleBurst, webhookChannel } from '@backstop/channels/test'
import type { Alert, Storm } from '@backstop/contracts'
import type { SendResult } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { DEFAULT_STORM_SETTINGS } from '../src/storm/rules/storm-settings.ts'
import { createMemoryNotifier, type MemoryNotifier } from './memory-notifier.ts'
import { pickBy, randomOf } from './random.ts'

const REGRESSIONS: readonly number[] = []
const SEEDS = [...REGRESSIONS, ...Array.from({ length: 6 }, (_, index) => index + 1)]
const ACTIONS = 60
const MINUTE = 60_000

interface Story {
  /** Number of connected accounts that make the actions; 0 if the connection's own account makes them. */
  readonly accounts?: number
  /** The alert about the burst with which the storm begins. */
  readonly alarm?: (nowMs: number) => Alert
}

async function simulate(seed: number, unrest: 'kills' | 'rebalances', { accounts = 0, alarm }: Story) {
  const random = randomOf(seed)
  const pick = pickBy(random)
  let decision: SendResult = 'stored'
  const notifier = createMemoryNotifier({ partitions: 2, sendResultOf: () => decision })
  const { channels } = notifier.collections
  channels.set('chn_people', emailChannel('chn_people', ['ops@example.com']))
  channels.set('chn_programs', webhookChannel('chn_programs', 'https://programs.example.com/'))
  const settings = { storms: DEFAULT_STORM_SETTINGS }
  let first = await notifier.start(settings)
  let second: typeof first | undefined
  const stopping: Promise<void>[] = []
  const disturb = async () => {
    if (unrest === 'kills') {
      first.kill()
      first = await notifier.start(settings)
    } else if (second === undefined) second = await notifier.start(settings)
    else {
      stopping.push(second.stop())
      second = undefined
    }
  }
  if (alarm !== undefined) await notifier.publish(alarm(notifier.clock.now()))
  for (let published = 0; published < ACTIONS; ) {
    decision = 'stored'
    const size = Math.min(pick([1, 2, 7, 20]), ACTIONS - published)
    const opened_at = new Date(notifier.clock.now()).toISOString()
    const batch = Array.from({ length: size }, (_, index) => {
      const one = alert({ id: `alr_${published + index}`, at: opened_at, incident: { opened_at } })
      if (accounts > 0)
        Object.assign((one.data as { action: object }).action, { account: `acct_${(published + index) % accounts}` })
      return one
    })
    await notifier.publish(...batch)
    published += size
    decision = pick(['stored', 'stored', 'refused', 'answer_lost'])
    notifier.state.database = pick(['up', 'up', 'away', 'answer_lost'])
    notifier.state.databaseMs = pick([0, 0, 20, 400])
    if (random() < 0.4) await disturb()
    await notifier.clock.advance(pick([1, 10, 300, 2_000, 8_000]))
  }
  decision = 'stored'
  notifier.state.database = 'up'
  notifier.state.databaseMs = 0
  await notifier.clock.advance(60 * MINUTE)
  await Promise.all(stopping)
  return notifier
}

/** The first second looks are now, so that the refunds of the simulation confirm the burst at once. */
function alarmAt(nowMs: number): Alert {
  const at = new Date(nowMs).toISOString()
  const facts = { project_id: PROJECT, connection_id: 'con_1', storm_id: 'stm_burst', opened_at: at }
  return { ...sampleBurst({ looks_at: at, last_look_at: at }, facts), project_id: PROJECT, created_at: at }
}

const sentTo = (notifier: MemoryNotifier, channelId: string) =>
  [...notifier.collections.deliveries.values()].filter(one => one.channel_id === channelId)

/** Expects that programs got each action, and people each action once: alone, or in the totals of the only storm. */
function expectWholeStory(notifier: MemoryNotifier, expected: { readonly alone: number; readonly alarms: number }) {
  const { stormMembers, storms } = notifier.collections
  const delivered = sentTo(notifier, 'chn_programs').filter(one => one.state === 'delivered')
  expect(delivered).toHaveLength(ACTIONS + expected.alarms)
  expect(stormMembers.size).toBe(ACTIONS)
  const alone = [...stormMembers.values()].filter(member => member.alone)
  const toPeople = sentTo(notifier, 'chn_people')
  expect(toPeople.every(one => one.state === 'delivered' || one.state === 'superseded')).toBe(true)
  const opened = toPeople.filter(one => one.event === 'incident.opened')
  expect(opened).toHaveLength(expected.alone + expected.alarms)
  expect(toPeople.filter(one => one.state === 'superseded').length).toBeLessThanOrEqual(expected.alarms)
  expect(alone).toHaveLength(expected.alone)
  expect([...storms.values()]).toMatchObject([{ state: 'ended', outbox: [] }])
  const reports = toPeople.flatMap(({ alert: { event, data } }): Storm[] =>
    event === 'storm.reported' ? [(data as { storm: Storm }).storm] : [],
  )
  const numbers = reports.map(({ report }) => report).sort((a, b) => a - b)
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  expect(numbers.length).toBeLessThanOrEqual(6)
  const last = reports.find(({ report }) => report === numbers.length)
  expect(last).toMatchObject({ state: 'ended', count: ACTIONS, money: [{ amount: ACTIONS * 2_499 }] })
  expect(notifier.fatal).toEqual([])
}

describe.each(SEEDS)('seed %i', seed => {
  test.each([
    ['kills', 0],
    ['rebalances', 0],
    ['kills', 20],
    ['rebalances', 20],
  ] as const)('with %s and %i connected accounts every action is reported to people once', async (unrest, accounts) => {
    expectWholeStory(await simulate(seed, unrest, { accounts }), { alone: 9, alarms: 0 })
  })
})

test.each([1, 2, 3, 4].flatMap(seed => (['kills', 'rebalances'] as const).map(unrest => ({ seed, unrest }))))(
  'a burst and its storm are one alarm and the reports of one storm, seed $seed with $unrest',
  async ({ seed, unrest }) => {
    const notifier = await simulate(seed, unrest, { alarm: alarmAt })
    expectWholeStory(notifier, { alone: 0, alarms: 1 })
    expect([...notifier.collections.storms.keys()]).toEqual(['stm_burst'])
  },
)
