/** The metric `dead_letters_total` while Kafka refuses the first two sends of a dead letter. */

import { alert, PROJECT, webhookChannel } from '@backstop/channels/test'
import type { DeliveryRequest } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { createMemoryNotifier, type MemoryNotifier } from './memory-notifier.ts'

const request = (channelId: string): DeliveryRequest => ({
  delivery_id: 'dlv_1',
  project_id: PROJECT,
  channel_id: channelId,
  attempt: 1,
  test: false,
  alert: alert(),
})

const CASES = [
  { what: 'a message that cannot be decoded', code: 'message_invalid', value: () => Buffer.from('not Avro') },
  {
    what: 'a delivery to an unknown channel',
    code: 'channel_unknown',
    value: ({ codec }: MemoryNotifier) => codec.encode('delivery-request', request('chn_unknown')),
  },
  {
    what: 'a delivery that its receiver refuses for good',
    code: 'receiver_gone',
    value: ({ codec }: MemoryNotifier) => codec.encode('delivery-request', request('chn_a')),
  },
  {
    what: 'a message that cannot be planned',
    code: 'internal',
    value: ({ codec }: MemoryNotifier) => codec.encode('delivery-request', request('chn_unusable')),
  },
]

test.each(CASES)('counts $what once, after Kafka has its dead letter', async ({ code, value }) => {
  let refused = 0
  const notifier = createMemoryNotifier({
    sendResultOf: messages => {
      if (!messages.some(({ topic }) => topic === 'deliveries.dead') || refused === 2) return 'stored'
      refused++
      return 'refused'
    },
  })
  const { bus, clock, collections } = notifier
  collections.channels.set('chn_a', webhookChannel('chn_a', 'https://a.example.com/hook'))
  const unusable = { ...webhookChannel('chn_unusable', 'https://a.example.com/hook'), config: null as never }
  collections.channels.set('chn_unusable', unusable)
  notifier.state.reply = () => 410
  await notifier.start()
  const producer = bus.another().producer({ sendTimeoutMs: 1_000 })
  await producer.send([{ topic: 'deliveries', key: 'chn_a', value: value(notifier), headers: {} }])
  for (let step = 0; refused < 2 && step < 600; step++) {
    expect(await counted(notifier)).toEqual([])
    await clock.advance(100)
  }
  await clock.advance(60_000)
  expect(bus.stored('deliveries.dead')).toHaveLength(1)
  expect(await counted(notifier)).toEqual([
    `dead_letters_total{topic="deliveries",code="${code}",service="notifier"} 1`,
  ])
})

async function counted({ metrics }: MemoryNotifier): Promise<string[]> {
  return (await metrics.text()).split('\n').filter(line => line.startsWith('dead_letters_total{'))
}
