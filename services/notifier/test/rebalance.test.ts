/** Revoked partitions whose deliveries are still in memory, on virtual time. */

import { alert, webhookChannel } from '@backstop/channels/test'
import { expect, test } from 'vitest'
import { createMemoryNotifier } from './memory-notifier.ts'

const urlOf = (id: string) => `https://${id.replace('_', '-')}.example.com/`
const CHANNELS = ['chn_a', 'chn_b', 'chn_c', 'chn_d', 'chn_e', 'chn_f']

function withChannels() {
  const notifier = createMemoryNotifier({ partitions: 2 })
  for (const id of CHANNELS) {
    notifier.collections.channels.set(id, webhookChannel(id, urlOf(id)))
  }
  return notifier
}

/** Expects one request per channel, and that the delivery records it. */
function expectOneEach(notifier: ReturnType<typeof withChannels>): void {
  expect(notifier.requests.map(request => request.url).sort()).toEqual(CHANNELS.map(urlOf))
  for (const id of CHANNELS) expect(notifier.deliveryOf('alr_1', id)).toMatchObject({ state: 'delivered' })
  expect(notifier.fatal).toEqual([])
}

/**
 * Waits for one database call of the fan-out and three of the intake: the cached channels are then too old for the
 * attempts.
 */
async function untilChannelsAreReadAgain({ clock, state }: ReturnType<typeof withChannels>): Promise<void> {
  await clock.advance(4 * state.databaseMs + 1_000)
}

test('messages whose partition is revoked during the intake are attempted by the new owner only', async () => {
  const notifier = withChannels()
  await notifier.start()
  await notifier.clock.advance(100)
  notifier.state.databaseMs = 1_000
  await notifier.publish(alert())
  // The alert is fanned out after one second. The intake then reads from the database for three more seconds.
  await notifier.clock.advance(1_500)
  await notifier.start()
  await notifier.clock.advance(30_000)
  expectOneEach(notifier)
})

test('messages whose intake runs while the process stops are left to the next process', async () => {
  const notifier = withChannels()
  const first = await notifier.start()
  await notifier.clock.advance(100)
  notifier.state.databaseMs = 1_000
  await notifier.publish(alert())
  await notifier.clock.advance(1_500)
  let stopped = false
  const stopping = first.stop().then(() => {
    stopped = true
  })
  await notifier.clock.advance(5_000)
  expect(stopped).toBe(true)
  expect(notifier.requests).toEqual([])
  await stopping
  await notifier.start()
  await notifier.clock.advance(30_000)
  expectOneEach(notifier)
})

test('an attempt whose partition is revoked while its channel is read is left to the new owner', async () => {
  const notifier = withChannels()
  await notifier.start()
  await notifier.clock.advance(100)
  notifier.state.databaseMs = 3_000
  await notifier.publish(alert())
  await untilChannelsAreReadAgain(notifier)
  expect(notifier.requests).toEqual([])
  await notifier.start()
  await notifier.clock.advance(60_000)
  expectOneEach(notifier)
})

test('a process that waits for the database to make its attempts stops all the same, at once', async () => {
  const notifier = withChannels()
  const first = await notifier.start()
  await notifier.clock.advance(100)
  notifier.state.databaseMs = 3_000
  await notifier.publish(alert())
  await untilChannelsAreReadAgain(notifier)
  Object.assign(notifier.state, { database: 'away', databaseMs: 0 })
  // By now the retries are thirty seconds apart, and the next one is due in twenty-five.
  await notifier.clock.advance(40_000)
  let stopped = false
  const stopping = first.stop().then(() => {
    stopped = true
  })
  await notifier.clock.advance(5_000)
  expect(stopped).toBe(true)
  await stopping
  notifier.state.database = 'up'
  await notifier.start()
  await notifier.clock.advance(30_000)
  expectOneEach(notifier)
})
