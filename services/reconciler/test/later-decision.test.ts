/** The timer for overdue looks requests the later decision on an alert, through the whole reconciler in memory. */
import { createFixedCodec } from '@backstop/kit/test'
import { MINUTE, operation, PROJECT, SECOND } from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import { startMemoryReconciler } from './memory-reconciler.ts'

test('an alert is resolved 15 minutes after the end of a matching operation, not before, with the names of its project and connection', async () => {
  const { clock, contents, publish, report, alerts, stop } = await startMemoryReconciler('con_1', () => ({}), {
    created_at: new Date(0),
    name: 'Shop account',
  })
  contents.projectNames.set(PROJECT, 'Webshop')
  await clock.advance(MINUTE)
  const madeAt = Math.floor(clock.now() / SECOND) * SECOND
  const refund = { id: 're_1', object: 'refund', amount: 2499, currency: 'eur', charge: 'ch_1', payment_intent: 'pi_1' }
  const event = {
    provider: 'processor',
    project_id: PROJECT,
    connection_id: 'con_1',
    event_id: 'evt_1',
    event_type: 'refund.created',
    received_at: new Date(clock.now()).toISOString(),
    body: {
      ...{ id: 'evt_1', object: 'event', type: 'refund.created', created: madeAt / SECOND, livemode: true },
      data: { object: { ...refund, status: 'succeeded', created: madeAt / SECOND } },
    },
  } as const
  const advance = async (minutes: number) => {
    for (let passed = 0; passed < minutes; passed += 1) await clock.advance(MINUTE)
  }
  const states = () => [...contents.incidents.values()].map(({ state, resolved_by }) => [state, resolved_by])

  await publish([createFixedCodec().encode('inbound-event', event)])
  await advance(3)
  expect(states()).toEqual([['open', null]])
  const at = (ms: number) => new Date(ms).toISOString()
  await report(operation({ connection_id: 'con_1', executing_at: at(madeAt), ended_at: at(madeAt + SECOND) }))
  await advance(11)
  expect(states()).toEqual([['open', null]])
  await advance(4)
  expect(states()).toEqual([['resolved', 'op_1']])
  const names = { project: 'Webshop', connection: 'Shop account' }
  expect(await alerts()).toMatchObject([
    { event: 'incident.opened', data: { names } },
    { event: 'incident.resolved', data: { names } },
  ])
  await stop()
})
