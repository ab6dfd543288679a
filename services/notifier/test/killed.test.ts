/** A notifier in memory is killed before and after each of its database calls, and another one goes on: nothing is lost or doubled. */
import { alert, incidentAlerts, PROJECT, webhookChannel } from '@backstop/channels/test'
import type { DeliveryDocument } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { newDelivery } from '../src/delivery-record/delivery-store.ts'
import { createMemoryNotifier, type MemoryNotifier } from './memory-notifier.ts'

const SECOND = 1_000
const MINUTE = 60_000
const alerts = ({ clock }: MemoryNotifier, count: number) =>
  Array.from({ length: count }, (_, index) => alert({ id: `alr_${index}`, at: new Date(clock.now()).toISOString() }))

const { opened, resolved } = incidentAlerts('inc_1')

interface Scenario {
  readonly name: string
  /** What the process does before it may be killed. */
  prepare?(notifier: MemoryNotifier): Promise<void>
  act(notifier: MemoryNotifier): Promise<void>
  /** What happens then. If absent, the receiver accepts everything. */
  afterwards?(notifier: MemoryNotifier): Promise<void>
  /** How many deliveries end in each state. */
  readonly states: Partial<Record<DeliveryDocument['state'], number>>
  /** The commands to the reconciler, each once. */
  readonly commands?: readonly string[]
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'disables a channel whose receiver answers 410',
    async act(notifier) {
      notifier.state.reply = () => 410
      await notifier.publish(...alerts(notifier, 1))
    },
    async afterwards() {},
    states: { dead: 1 },
    commands: ['open_channel_incident'],
  },
  {
    name: 'enables a channel',
    async prepare(notifier) {
      notifier.state.reply = () => 410
      await notifier.publish(...alerts(notifier, 1))
      await notifier.clock.advance(SECOND)
    },
    act: notifier => notifier.command({ kind: 'enable_channel', channel_id: 'chn_a' }),
    states: { dead: 1 },
    commands: ['open_channel_incident', 'resolve_channel_incident'],
  },
  {
    name: 'attempts a dead delivery again',
    async prepare(notifier) {
      const request = { delivery_id: 'dlv_1', project_id: PROJECT, channel_id: 'chn_a', attempt: 1, test: false }
      const ended = newDelivery({ ...request, alert: alert() }, 'webhook', notifier.clock.now())
      notifier.collections.deliveries.set('dlv_1', { ...ended, state: 'dead', reason: 'Given up', next_attempt: null })
    },
    act: notifier => notifier.command({ kind: 'retry_delivery', delivery_id: 'dlv_1', command_id: 'cmd_1' }),
    states: { delivered: 1 },
  },
  {
    name: 'announces an opening and its resolution in one message',
    async prepare(notifier) {
      notifier.state.reply = () => 500
      await notifier.publish(opened)
      await notifier.clock.advance(SECOND)
    },
    async act(notifier) {
      notifier.state.reply = () => 200
      await notifier.publish(resolved)
    },
    states: { delivered: 1, superseded: 1 },
  },
  {
    name: 'postpones the deliveries of a channel that fails',
    async act(notifier) {
      notifier.state.reply = () => 500
      await notifier.publish(...alerts(notifier, 20))
    },
    states: { delivered: 20 },
  },
]

test.each(SCENARIOS)('a process that $name is killed at each of its calls to the database', async scenario => {
  let moments = 0
  while (await killAt(moments + 1, scenario)) moments += 1
  expect(moments).toBeGreaterThan(3)
})

/** @returns false if the process had no such moment */
async function killAt(moment: number, { prepare, act, afterwards, states, commands }: Scenario): Promise<boolean> {
  const notifier = createMemoryNotifier()
  const events = ['incident.opened', 'incident.resolved'] as const
  const channel = webhookChannel('chn_a', 'https://a.example.com/hook', undefined, { events: [...events] })
  notifier.collections.channels.set('chn_a', channel)
  const doomed = await notifier.start()
  await prepare?.(notifier)
  let passed = 0
  notifier.state.onDatabaseCall = () => {
    passed += 1
    if (passed === moment) doomed.kill()
  }
  await act(notifier)
  await notifier.clock.advance(3 * SECOND)
  notifier.state.onDatabaseCall = () => {}
  const isKilled = passed >= moment
  if (isKilled) await notifier.start()
  if (afterwards === undefined) notifier.state.reply = () => 200
  else await afterwards(notifier)
  await notifier.clock.advance(15 * MINUTE)
  const at = `killed at moment ${moment}`
  const byState = Map.groupBy(notifier.collections.deliveries.values(), ({ state }) => state)
  expect(Object.fromEntries([...byState].map(([state, all]) => [state, all.length])), at).toEqual(states)
  if (commands !== undefined) {
    const sent = new Map((await notifier.commands()).map(command => [command.command_id, command.kind]))
    expect(
      [...sent.values()].filter(kind => kind !== 'enable_channel'),
      at,
    ).toEqual(commands)
  }
  return isKilled
}
