/** A new event that passes a backlog, in the whole reconciler in memory. */
import { HEADERS } from '@backstop/contracts'
import { MINUTE, PROJECT, SECOND } from '@backstop/verdict/test'
import { expect, onTestFinished, test } from 'vitest'
import { startMemoryReconciler } from './memory-reconciler.ts'

test('is judged while an older event is in progress, and not again after it', async () => {
  const gates = new Map(['slow_1', 'slow_2'].map(name => [`con_1/evt_${name}`, Promise.withResolvers<void>()]))
  const asked: string[] = []
  const reconciler = await startMemoryReconciler(
    'con_1',
    inbox => ({
      async done(ids) {
        asked.push(...ids)
        await Promise.all(ids.map(id => gates.get(id)?.promise))
        return inbox.done(ids)
      },
    }),
    { created_at: new Date(0) },
  )
  onTestFinished(() => reconciler.stop())
  const { clock, contents, publish, alerts } = reconciler
  const refund = (name: string) => {
    const created = Math.floor(clock.now() / SECOND)
    const object = { id: `re_${name}`, object: 'refund', amount: 2499, currency: 'eur', payment_intent: `pi_${name}` }
    return reconciler.codec.encode('inbound-event', {
      provider: 'processor',
      project_id: PROJECT,
      connection_id: 'con_1',
      event_id: `evt_${name}`,
      event_type: 'refund.created',
      received_at: new Date(clock.now()).toISOString(),
      body: {
        id: `evt_${name}`,
        created,
        livemode: true,
        data: { object: { ...object, status: 'succeeded', created } },
      },
    })
  }
  await clock.advance(MINUTE)
  await publish([refund('slow_1')])
  await clock.settle()
  await publish([refund('slow_2')])
  await clock.advance(40 * SECOND)
  gates.get('con_1/evt_slow_1')?.resolve()
  await clock.advance(2 * SECOND)
  await publish([refund('new')], { [HEADERS.messageId]: 'new' })
  await clock.advance(2 * SECOND)
  expect([...contents.inbox.keys()].toSorted()).toEqual(['con_1/evt_new', 'con_1/evt_slow_1'])

  gates.get('con_1/evt_slow_2')?.resolve()
  for (let second = 0; second < 62; second += 1) await clock.advance(SECOND)
  expect(asked.toSorted()).toEqual(['con_1/evt_new', 'con_1/evt_slow_1', 'con_1/evt_slow_2'])
  const opened = (await alerts()).flatMap(alert =>
    alert.event === 'incident.opened' ? [alert.data.action?.provider_ref] : [],
  )
  expect(opened.toSorted()).toEqual(['re_new', 're_slow_1', 're_slow_2'])
})
