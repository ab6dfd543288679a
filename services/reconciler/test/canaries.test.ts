/** Actions of canaries, through the whole reconciler in memory. */
import { createFixedCodec } from '@backstop/kit/test'
import { MINUTE, PROJECT, SECOND } from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import { startMemoryReconciler } from './memory-reconciler.ts'

test('an action of a canary alerts before its second look, once, beside the alert that nothing explains it', async () => {
  const { clock, contents, publish, alerts, stop } = await startMemoryReconciler('con_1', () => ({}), {
    created_at: new Date(0),
  })
  await clock.advance(MINUTE)
  const at = new Date(clock.now())
  contents.namedActors.push({
    ...{ _id: 'acr_trap', project_id: PROJECT, prefix: 'trap-', name: 'Old backup key', role: 'canary' },
    ...{ role_since: at, removed_at: null, version: 1, created_at: at, updated_at: at },
  })
  await clock.advance(2 * SECOND)
  const show = async (number: number, key: string) => {
    const [id, type, madeAt] = [`evt_${number}`, 'refund.created', Math.floor(clock.now() / SECOND)]
    const object = { id: `re_${number}`, object: 'refund', amount: 2499, currency: 'eur', charge: `ch_${number}` }
    const event = {
      ...{
        provider: 'processor' as const,
        project_id: PROJECT,
        connection_id: 'con_1',
        event_id: id,
        event_type: type,
      },
      received_at: new Date(clock.now()).toISOString(),
      body: {
        ...{ id, object: 'event', type, created: madeAt, livemode: true },
        request: { id: `req_${number}`, idempotency_key: key },
        data: { object: { ...object, status: 'succeeded', created: madeAt } },
      },
    } as const
    await publish([createFixedCodec().encode('inbound-event', event)])
    await clock.advance(SECOND)
  }
  await show(1, 'trap-1')
  await show(2, 'other-1')
  const opened = async () =>
    (await alerts()).map(({ data }) => ('incident' in data ? [data.incident.code, data.incident.actor_id] : []))
  expect(await opened()).toEqual([['CANARY_USED', 'acr_trap']])
  await show(1, 'trap-1')
  await clock.advance(MINUTE)
  await clock.advance(MINUTE)
  expect(await opened()).toEqual([
    ['CANARY_USED', 'acr_trap'],
    ['UNEXPECTED_ACTION', 'acr_trap'],
    ['UNEXPECTED_ACTION', undefined],
  ])
  await stop()
})
