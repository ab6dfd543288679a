import { CHANNEL_MODULES } from '@backstop/channels/deliver'
import { alert, webhookChannel } from '@backstop/channels/test'
import { expect, test } from 'vitest'
import { describeChannel } from './channel.contract.ts'
import { CHANNEL_RECEIVERS } from './channel-receivers/index.ts'
import { startWithChannels } from './memory-notifier.ts'

for (const [kind, receivers] of Object.entries(CHANNEL_RECEIVERS)) describeChannel(kind, receivers)

test('every kind of channel passes the suite', () => {
  expect(Object.keys(CHANNEL_RECEIVERS).sort()).toEqual(Object.keys(CHANNEL_MODULES).sort())
})

test('an attempt may take twenty seconds by default', async () => {
  const notifier = await startWithChannels(webhookChannel('chn_a', 'https://a.example.com/hook'))
  await notifier.publish(alert())
  await notifier.clock.advance(1_000)
  expect(notifier.requests.map(request => request.timeoutMs)).toEqual([20_000])
})
