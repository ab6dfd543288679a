/** The effect of hanging channels on the other channels, on virtual time. */

import { alert, webhookChannel } from '@backstop/channels/test'
import { expect, test } from 'vitest'
import { createMemoryNotifier } from './memory-notifier.ts'

const URL_OK = 'https://ok.example.com/hook'

test('channels that hang, each with too little waiting to show, do not fill the process for the one that works', async () => {
  const notifier = createMemoryNotifier({ partitions: 1 })
  notifier.collections.channels.set('chn_ok', webhookChannel('chn_ok', URL_OK))
  for (let index = 0; index < 10; index++) {
    notifier.collections.channels.set(`chn_${index}`, webhookChannel(`chn_${index}`, `https://r${index}.example.com/`))
  }
  notifier.state.reply = request => (request.url === URL_OK ? 200 : 'hang')
  await notifier.start({ maxInMemory: 200 })
  await notifier.clock.advance(100)
  const ids = Array.from({ length: 50 }, (_, index) => `alr_${index}`)
  for (const id of ids) {
    await notifier.publish(alert({ id, at: new Date(notifier.clock.now()).toISOString() }))
    await notifier.clock.advance(500)
  }
  const delivered = notifier.requests.filter(request => request.url === URL_OK)
  expect(delivered).toHaveLength(ids.length)
  for (const request of delivered) {
    expect(request.atMs - Date.parse(JSON.parse(String(request.body)).created_at)).toBeLessThan(1_000)
  }
  notifier.state.reply = () => 200
  await notifier.clock.advance(3_600_000)
  for (const id of ids) expect(notifier.deliveryOf(id, 'chn_0')?.state).toBe('delivered')
})
