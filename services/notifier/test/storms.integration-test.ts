/**
 * A storm of unexplained refunds that arrive all at once. It has 400 refunds by default, so that the test is fast;
 * BACKSTOP_STORM_ACTIONS sets another number.
 */

import { incidentAlerts } from '@backstop/channels/test'
import type { Alert, Storm, StormDocument, StormMemberDocument } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStormWorld, refundAlert, type StormWorld } from './storm-world.ts'

const ACTIONS = Number(process.env.BACKSTOP_STORM_ACTIONS ?? 400)
const BATCH = 1_000
const MOST_MESSAGES = 20
let world: StormWorld

beforeAll(async () => {
  world = await openStormWorld()
})
afterAll(() => world?.stop())

test('refunds that arrive all at once are at most twenty messages for people, and each one for programs', async () => {
  const begin = performance.now()
  for (let index = 0; index < ACTIONS; index += BATCH) {
    const count = Math.min(BATCH, ACTIONS - index)
    await world.publish(Array.from({ length: count }, (_, offset) => refundAlert(index + offset)))
  }
  const otherMs = await world.timeOfOtherAlert('stormy')
  await until('all webhooks', () => world.requestsTo('/hook').length >= ACTIONS, { timeoutMs: 300_000, everyMs: 100 })
  const seconds = Math.round((performance.now() - begin) / 1_000)
  process.stdout.write(
    `${ACTIONS} refunds at once: ${seconds} s until all webhooks were sent, ${otherMs} ms for an alert of another project\n`,
  )
  const storm = await until(
    'the storm has ended and everything is delivered',
    async () => {
      const storm = await world.db.collection<StormDocument>('storms').findOne({ connection_id: 'con_1' })
      if (storm?.state !== 'ended' || storm.outbox?.length !== 0) return false
      const [hook, slack, mail] = await Promise.all(['chn_hook', 'chn_slack', 'chn_mail'].map(world.countDelivered))
      return hook === ACTIONS && slack === 9 + storm.report && mail === slack && storm
    },
    { timeoutMs: 380_000, everyMs: 1_000 },
  )
  const [sum] = await world.db
    .collection<StormMemberDocument>('storm_members')
    .aggregate<{ count: number; amount: number; largest: number }>([
      { $match: { storm_id: storm._id } },
      { $group: { _id: null, count: { $sum: 1 }, amount: { $sum: '$amount' }, largest: { $max: '$amount' } } },
    ])
    .toArray()
  expect(sum).toMatchObject({ count: ACTIONS, amount: (ACTIONS * (2 * 100 + ACTIONS - 1)) / 2, largest: ACTIONS + 99 })
  for (const channelId of ['chn_slack', 'chn_mail']) {
    const delivered = await world.delivered(channelId)
    expect(delivered.length).toBeLessThanOrEqual(MOST_MESSAGES)
    expect(delivered.filter(one => one.event === 'incident.opened')).toHaveLength(9)
    const reports = delivered.flatMap(({ alert: one }): Storm[] =>
      one.event === 'storm.reported' ? [one.data.storm] : [],
    )
    const last = reports.find(({ report }) => report === storm.report)
    expect(last).toMatchObject({
      state: 'ended',
      count: sum?.count,
      money: [{ currency: 'eur', amount: sum?.amount, count: ACTIONS, largest: sum?.largest }],
    })
  }
  expect(world.requestsTo('/slack').length).toBeLessThanOrEqual(MOST_MESSAGES)
  expect(new Set(world.requestsTo('/hook').map(({ headers }) => headers['webhook-id'])).size).toBe(ACTIONS)
  expect(await world.countMails()).toBeLessThanOrEqual(MOST_MESSAGES)
})

test('people who acknowledge every incident of a storm acknowledge its alert in PagerDuty', async () => {
  const of = (index: number) => {
    const one = refundAlert(10_000 + index)
    if (one.event !== 'incident.opened') throw new Error('Another event')
    const incident = { ...one.data.incident, incident_id: `inc_page_${index}`, connection_id: 'con_page' }
    return { ...one, data: { ...one.data, incident } }
  }
  const opened = Array.from({ length: 15 }, (_, index) => of(index))
  await world.publish(opened)
  const storm = await until(
    'the first report is sent',
    async () => {
      const found = await world.db.collection<StormDocument>('storms').findOne({ connection_id: 'con_page' })
      return found !== null && actionsOf(found._id).includes('trigger') && found
    },
    { timeoutMs: 60_000, everyMs: 200 },
  )
  const acknowledged = opened.map(({ data }): Alert => {
    const incident = { ...data.incident, state: 'acknowledged' as const, acknowledged_by: 'Ann' }
    const { acknowledged: sample } = incidentAlerts(incident.incident_id)
    return { ...sample, created_at: new Date().toISOString(), data: { incident, action: data.action } } as Alert
  })
  await world.publish(acknowledged)
  await until('PagerDuty got the acknowledgement', () => actionsOf(storm._id).includes('acknowledge'), {
    timeoutMs: 60_000,
    everyMs: 200,
  })
})

/** What PagerDuty got about a storm. */
function actionsOf(stormId: string): string[] {
  const events = world.requestsTo('/pager').map(({ body }) => JSON.parse(String(body)))
  return events.filter(({ dedup_key }) => dedup_key === stormId).map(({ event_action }) => event_action)
}
