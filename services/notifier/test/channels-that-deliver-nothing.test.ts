/** Incidents about channels that deliver nothing, on the whole notifier in memory. */

import { alert, emailChannel, PROJECT, webhookChannel } from '@backstop/channels/test'
import { Secret } from '@backstop/kit/config'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import { expect, test } from 'vitest'
import { type MemoryNotifier, startWithChannels } from './memory-notifier.ts'

const URL_A = 'https://a.example.com/hook'
const MINUTE = 60_000

const incidents = async (notifier: MemoryNotifier) =>
  (await notifier.commands()).filter(one => one.kind.endsWith('channel_incident'))
const publish = (notifier: MemoryNotifier, id = 'alr_1') =>
  notifier.publish(alert({ id, at: new Date(notifier.clock.now()).toISOString() }))
const healthOf = (notifier: MemoryNotifier) => notifier.collections.channelHealth.get('chn_a')

test('a channel whose receiver answers 500 gets an incident after 15 minutes, which its first success resolves', async () => {
  const notifier = await startWithChannels(webhookChannel('chn_a', URL_A, undefined, { name: 'Ops' }))
  notifier.state.reply = () => 500
  await publish(notifier)
  await notifier.clock.advance(14 * MINUTE)
  expect(await incidents(notifier)).toEqual([])
  await notifier.clock.advance(2 * MINUTE)
  const [opened] = await incidents(notifier)
  expect(opened).toMatchObject({
    kind: 'open_channel_incident',
    fault: 'failing',
    channel_id: 'chn_a',
    channel_name: 'Ops',
  })
  expect(opened).toMatchObject({ reason: expect.stringMatching(/since 2026-11-21T10:00.*The receiver answered 500/) })
  await notifier.clock.advance(30 * MINUTE)
  expect(await incidents(notifier)).toHaveLength(1)
  notifier.state.reply = () => 200
  await publish(notifier, 'alr_2')
  await notifier.clock.advance(10_000)
  expect((await incidents(notifier)).slice(1)).toMatchObject([
    {
      kind: 'resolve_channel_incident',
      outcome: 'recovered',
      incident_id: healthOf(notifier)?.failing_incident_id ?? expect.any(String),
    },
  ])
  expect(healthOf(notifier)).toMatchObject({ failing_incident_id: null, undelivered_since: null, outbox: [] })
})

test.each([
  {
    name: 'whose secret cannot be opened',
    channel: () => {
      const box = createSecretBox(parseKeyRing(new Secret(`gone:${'A'.repeat(43)}=`)))
      const sealed = box.seal(new Secret('whsec_x'), {
        project: PROJECT,
        table: 'channels',
        id: 'chn_a',
        field: 'secret',
      } as never)
      const channel = webhookChannel('chn_a', URL_A)
      return { ...channel, config: { ...channel.config, secret: sealed } } as typeof channel
    },
    reply: 200,
  },
  { name: 'that refuses each single message', channel: () => webhookChannel('chn_a', URL_A), reply: 400 },
])('a channel $name gets an incident after 15 minutes', async ({ channel, reply }) => {
  const notifier = await startWithChannels(channel())
  notifier.state.reply = () => reply
  await publish(notifier)
  await notifier.clock.advance(16 * MINUTE)
  expect(await incidents(notifier)).toMatchObject([{ kind: 'open_channel_incident', fault: 'failing' }])
})

const unsubscribe = (address: string) =>
  ({ kind: 'suppress_address', address, reason: 'unsubscribed', detail: 'By the link of a mail' }) as const

test('a mail channel gets an incident as soon as its last address unsubscribes, before any alert', async () => {
  const notifier = await startWithChannels(emailChannel('chn_a', ['A@example.com', 'b@example.com']))
  await notifier.command(unsubscribe('a@example.com'))
  await notifier.clock.advance(10_000)
  expect(await incidents(notifier)).toEqual([])
  expect(healthOf(notifier)?.unreached).toBeUndefined()
  await notifier.command(unsubscribe('b@example.com'))
  await notifier.clock.advance(10_000)
  expect(await incidents(notifier)).toMatchObject([
    { fault: 'failing', reason: expect.stringContaining('2 addresses are suppressed (2 unsubscribed)') },
  ])
  // An alert in the meantime ends as dead, and is no reason of its own.
  await publish(notifier)
  await notifier.clock.advance(10_000)
  await notifier.command({ kind: 'unsuppress_address', address: 'b@example.com' })
  await notifier.clock.advance(10_000)
  expect((await incidents(notifier)).slice(1)).toMatchObject([{ kind: 'resolve_channel_incident', outcome: 'cleared' }])
  await notifier.clock.advance(20 * MINUTE)
  expect(await incidents(notifier)).toHaveLength(2)
})

test('an alert shows at once that a new channel reaches nobody', async () => {
  const notifier = await startWithChannels(webhookChannel('chn_other', URL_A))
  await notifier.command(unsubscribe('a@example.com'))
  notifier.collections.channels.set('chn_a', emailChannel('chn_a', ['a@example.com']))
  await publish(notifier)
  await notifier.clock.advance(10_000)
  expect(await incidents(notifier)).toMatchObject([{ fault: 'failing', channel_id: 'chn_a' }])
})
