/** Which deliveries the metric of the latency counts, on the whole notifier in memory. Its clock starts at ten o'clock UTC. */
import { alert, slackChannel } from '@backstop/channels/test'
import { expect, test } from 'vitest'
import { createMemoryNotifier, type MemoryNotifier } from './memory-notifier.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const UNTIL_NOON = { time_zone: 'UTC', from: '09:00', to: '12:00', days: null }

async function start(quiet_hours: typeof UNTIL_NOON | null) {
  const notifier = createMemoryNotifier()
  const channel = slackChannel('chn_slack', 'https://hooks.slack.com/x', quiet_hours === null ? {} : { quiet_hours })
  notifier.collections.channels.set('chn_slack', channel)
  notifier.state.reply = () => ({ status: 200, body: 'ok' })
  await notifier.start()
  await notifier.clock.advance(100)
  return notifier
}

/** The number of deliveries in the histogram. */
async function counted({ metrics }: MemoryNotifier): Promise<number> {
  const [, count] =
    /^alert_e2e_latency_seconds_count\{[^}]*channel="slack"[^}]*\} (\d+)$/m.exec(await metrics.text()) ?? []
  return Number(count)
}

const stateOf = (notifier: MemoryNotifier, id: string) => notifier.deliveryOf(id, 'chn_slack')?.state

test('counts a delivery, and one that was retried', async () => {
  const notifier = await start(null)
  await notifier.publish(alert({ id: 'alr_1' }))
  await notifier.clock.advance(5_000)
  expect(await counted(notifier)).toBe(1)
  notifier.state.reply = () => 503
  await notifier.publish(alert({ id: 'alr_2' }))
  await notifier.clock.advance(1_000)
  notifier.state.reply = () => ({ status: 200, body: 'ok' })
  await notifier.clock.advance(10 * MINUTE_MS)
  expect(stateOf(notifier, 'alr_2')).toBe('delivered')
  expect(await counted(notifier)).toBe(2)
})

test('does not count a delivery that quiet hours held, and counts the next one', async () => {
  const notifier = await start(UNTIL_NOON)
  await notifier.publish(alert({ id: 'alr_1' }))
  await notifier.clock.advance(2 * HOUR_MS + MINUTE_MS)
  expect(stateOf(notifier, 'alr_1')).toBe('delivered')
  expect(await counted(notifier)).toBe(0)
  await notifier.clock.advance(5 * MINUTE_MS)
  await notifier.publish(alert({ id: 'alr_2' }))
  await notifier.clock.advance(5_000)
  expect(await counted(notifier)).toBe(1)
})

test('does not count a held delivery whose first attempt after the quiet hours failed', async () => {
  const notifier = await start(UNTIL_NOON)
  await notifier.publish(alert({ id: 'alr_1' }))
  notifier.state.reply = () => 503
  await notifier.clock.advance(2 * HOUR_MS + 10_000)
  expect(stateOf(notifier, 'alr_1')).toBe('retrying')
  notifier.state.reply = () => ({ status: 200, body: 'ok' })
  await notifier.clock.advance(10 * MINUTE_MS)
  expect(stateOf(notifier, 'alr_1')).toBe('delivered')
  expect(await counted(notifier)).toBe(0)
})

test('does not count a delivery that a person requested again', async () => {
  const notifier = await start(null)
  notifier.state.reply = () => 400
  await notifier.publish(alert({ id: 'alr_1' }))
  await notifier.clock.advance(MINUTE_MS)
  expect(stateOf(notifier, 'alr_1')).toBe('dead')
  notifier.state.reply = () => ({ status: 200, body: 'ok' })
  const delivery_id = notifier.deliveryOf('alr_1', 'chn_slack')?._id ?? ''
  await notifier.command({ kind: 'retry_delivery', delivery_id })
  await notifier.clock.advance(MINUTE_MS)
  expect(stateOf(notifier, 'alr_1')).toBe('delivered')
  expect(await counted(notifier)).toBe(0)
})
