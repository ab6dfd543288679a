/** The rule about second refunds, through the whole reconciler in memory. */
import type { ConnectionDocument } from '@backstop/contracts'
import { createFixedCodec } from '@backstop/kit/test'
import { MINUTE, operation, PROJECT, SECOND } from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import { startMemoryReconciler } from './memory-reconciler.ts'

/** @param account the connected account that the events are of */
async function openShop(connection: Partial<ConnectionDocument>, account?: string) {
  const reconciler = await startMemoryReconciler('con_1', () => ({}), {
    created_at: new Date(0),
    name: 'Shop account',
    ...connection,
  })
  const { clock, contents, publish, report, alerts } = reconciler
  contents.projectNames.set(PROJECT, 'Webshop')
  await clock.advance(MINUTE)
  const madeAt = Math.floor(clock.now() / SECOND) * SECOND
  const at = (seconds: number) => new Date(madeAt + seconds * SECOND).toISOString()
  const show = async (number: number, { status = 'succeeded', type = 'refund.created' } = {}) => {
    const id = `evt_${number}_${status}`
    const refund = { id: `re_${number}`, object: 'refund', amount: 2499, currency: 'eur', charge: 'ch_1' }
    const event = {
      provider: 'processor',
      project_id: PROJECT,
      connection_id: 'con_1',
      event_id: id,
      event_type: type,
      received_at: new Date(clock.now()).toISOString(),
      body: {
        ...{ id, object: 'event', type, created: madeAt / SECOND, livemode: true },
        ...(account === undefined ? {} : { account }),
        data: { object: { ...refund, payment_intent: 'pi_1', status, created: madeAt / SECOND + number } },
      },
    } as const
    await publish([createFixedCodec().encode('inbound-event', event)])
    await clock.advance(2 * SECOND)
  }
  const make = async (number: number) => {
    const times = { executing_at: at(number), ended_at: at(number + 1) }
    await report(
      operation({ operation_id: `op_${number}`, connection_id: 'con_1', provider_ref: `re_${number}`, ...times }),
    )
    await clock.advance(2 * SECOND)
  }
  const settle = async () => {
    await clock.advance(MINUTE)
    await clock.advance(MINUTE)
  }
  const states = () => [...contents.incidents.values()].map(({ code, state, resolution }) => [code, state, resolution])
  return { ...reconciler, show, make, settle, states, alerts }
}

test('a refund that software makes again alerts once with both operations, and both stay explained', async () => {
  const { show, make, settle, states, alerts, contents, stop } = await openShop({ refunded_twice_within_hours: 1 })
  // The ledger in memory has no operations, so each is reported after its refund.
  await show(1)
  await make(1)
  await show(2)
  expect(states()).toEqual([])
  await make(2)
  await show(2)
  await settle()
  expect(states()).toEqual([['REFUNDED_TWICE', 'open', null]])
  expect([...contents.actions.values()].map(({ verdict }) => verdict)).toEqual(['explained', 'explained'])
  expect(await alerts()).toMatchObject([
    {
      event: 'incident.opened',
      data: {
        incident: {
          code: 'REFUNDED_TWICE',
          connection_id: 'con_1',
          refunded_twice: { operation_id: 'op_2', earlier: { provider_ref: 're_1', operation_id: 'op_1' } },
        },
        action: { provider_ref: 're_2', operation_id: 'op_2', verdict: 'explained' },
        names: { project: 'Webshop', connection: 'Shop account' },
      },
    },
  ])
  await show(2, { status: 'failed', type: 'refund.failed' })
  await settle()
  expect(states()).toMatchObject([['REFUNDED_TWICE', 'resolved', expect.stringContaining('No money moved by re_2')]])
  expect((await alerts()).map(({ event }) => event)).toContain('incident.resolved')
  await stop()
})

const ignored = [{ account: 'acct_1', out_of_band: 'ignore' as const }]

test.each<{ name: string; connection: Partial<ConnectionDocument>; account?: string }>([
  { name: 'without the rule', connection: {} },
  { name: 'with out_of_band: ignore', connection: { refunded_twice_within_hours: 1, out_of_band: 'ignore' } },
  {
    name: 'of a connected account with out_of_band: ignore',
    connection: { refunded_twice_within_hours: 1, accounts: ignored },
    account: 'acct_1',
  },
])('a refund that software makes again does not alert $name', async ({ connection, account }) => {
  const { show, make, settle, states, stop } = await openShop(connection, account)
  for (const number of [1, 2]) {
    await show(number)
    await make(number)
  }
  await settle()
  expect(states()).toEqual([])
  await stop()
})

test('a refund that software makes again at a connected account alerts although another account is ignored', async () => {
  const { show, make, settle, states, stop } = await openShop(
    { refunded_twice_within_hours: 1, accounts: ignored },
    'acct_2',
  )
  for (const number of [1, 2]) {
    await show(number)
    await make(number)
  }
  await settle()
  expect(states()).toEqual([['REFUNDED_TWICE', 'open', null]])
  await stop()
})
