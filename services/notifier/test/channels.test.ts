import { CHANNEL_MODULES } from '@backstop/channels/deliver'
import { alert, webhookChannel } from '@backstop/channels/test'
import { expect, test } from 'vitest'
import { describeChannel } from './channel.contract.ts'
import { CHANNEL_WORLDS } from './channel-receivers/index.ts'
import { startWithChannels } from './memory-notifier.ts'

for (const [kind, world] of Object.entries(CHANNEL_WORLDS)) describeChannel(kind, world)

test('every kind of channel passes the suite', () => {
  expect(Object.keys(CHANNEL_WORLDS).sort()).toEqual(Object.keys(CHANNEL_MODULES).sort())
})

test('an attempt may take twenty seconds, where nobody says otherwise', async () => {
  const notifier = await startWithChannels(webhookChannel('chn_a', 'https://a.example.com/hook'))
  await notifier.publish(alert())
  await notifier.clock.advance(1_000)
  expect(notifier.requests.map(request => request.timeoutMs)).toEqual([20_000])
})
