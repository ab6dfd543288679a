/** People close an incident through the API, and the receiver of the project's alerts hears who did and why. */
import type { Incident, Statement } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventOf, incidentOf } from '../setup/customer.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import { quickProduct } from './shared-products.ts'

const LOOKED_WITHIN_MS = 60_000

describe('the life of an incident', () => {
  let shop: Shop

  beforeAll(async () => {
    shop = await openShop(quickProduct.get())
  })

  afterAll(async () => {
    await shop?.stop()
  })

  test('an incident is acknowledged and resolved by a person, and incident.resolved has the reason and the name', async () => {
    const payment = shop.pay()
    const refund = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 2499 })
    await shop.alertAbout(refund.id, LOOKED_WITHIN_MS)
    const [open] = await shop.incidents()
    const path = `/v1/incidents/${open?.incident_id}`
    const change = (verb: string, body: object = {}) => shop.api.post<Incident>(`${path}/${verb}`, body)

    const acknowledged = await change('acknowledge')
    expect(acknowledged).toMatchObject({ state: 'acknowledged', acknowledged_by: expect.any(String) })
    await expect(change('acknowledge')).rejects.toThrow(/acknowledged by/)
    const resolve = { reason: 'provider_mistake', note: 'Ticket 4711' }
    const resolved = await change('resolve', resolve)
    expect(resolved).toMatchObject({ state: 'resolved', resolved_by: acknowledged.acknowledged_by, ...resolve })

    const delivered = await until('incident.resolved', () =>
      shop.alertsAbout(refund.id).find(delivery => eventOf(delivery) === 'incident.resolved'),
    )
    expect(delivered).toMatchObject({ serviceSignature: 'valid' })
    expect(incidentOf(delivered)).toMatchObject({
      state: 'resolved',
      resolved_by: acknowledged.acknowledged_by,
      acknowledged_by: acknowledged.acknowledged_by,
      ...resolve,
    })
    const { timeline } = await shop.api.get<{ timeline: { what: string; by?: { kind: string } }[] }>(path)
    expect(timeline.slice(-2)).toMatchObject([
      { what: 'incident_acknowledged', by: { kind: 'api_key' } },
      { what: 'incident_resolved', by: { kind: 'api_key' } },
    ])
  })

  test('refunds that were resolved as our own, alone or in bulk, are expected in the statement', async () => {
    const resolve = async (refundId: string, path: string, body: object) => {
      await shop.alertAbout(refundId, LOOKED_WITHIN_MS)
      const incident = (await shop.incidents()).find(({ state }) => state === 'open')
      await shop.api.post(path.replace('{id}', incident?.incident_id ?? ''), body)
    }
    const refund = () => shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 1_000 }).id
    const change = { kind: 'resolve', reason: 'our_own_change' }
    await resolve(refund(), '/v1/incidents/{id}/resolve', { reason: 'our_own_change' })
    await resolve(refund(), '/v1/incidents/bulk', { project_id: shop.projectId, filter: {}, change })
    const month = new Date().toISOString().slice(0, 7)
    const path = `/v1/statements?project_id=${shop.projectId}&month=${month}`
    const lines = await until('both refunds in the statement', async () => {
      const statement = await shop.api.get<Statement>(path)
      const expected = statement.lines.find(({ category }) => category === 'expected')
      return expected?.count === 2 ? statement.lines : undefined
    })
    // The refund of the test above.
    expect(lines.find(({ category }) => category === 'unexplained')).toMatchObject({ count: 1, amount: 2_499 })
  })
})
