import { SAMPLE_ALERTS } from '@backstop/channels'
import { incidentAlerts } from '@backstop/channels/test'
import { type Alert, deliveryIdOf, stormAlertId } from '@backstop/contracts'
import { createLogger } from '@backstop/kit/logger'
import { createManualClock } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { createMemoryCollections, createMemoryDeliveryStore } from '../../test/stores/memory-stores.ts'
import { newDelivery } from '../delivery-record/delivery-store.ts'
import type { DeliveryJob } from '../jobs/delivery-job.ts'
import { orderIncidents } from './order-incidents.ts'
import { outcomeOfAttempt } from './rules/outcome-of-attempt.ts'

const { opened, resolved } = incidentAlerts('inc_1')
const OPENED_ID = deliveryIdOf(opened.alert_id, 'chn_1')
const requestOf = (alert: Alert) => ({
  delivery_id: deliveryIdOf(alert.alert_id, 'chn_1'),
  channel_id: 'chn_1',
  project_id: alert.project_id,
  attempt: 1,
  test: false,
  alert,
})
const job = (alert: Alert, isKnown = false): DeliveryJob => ({
  request: requestOf(alert),
  channelKind: 'webhook',
  orderingKey: 'inc_1',
  firstAttemptAtMs: null,
  ladderAttemptsAtMs: [],
  isKnown,
  atOnce: false,
  isLateOnPurpose: false,
  goesAlone: false,
  digestGroup: null,
  receivedAtMs: 0,
  messages: [],
})

async function createScenario() {
  const clock = createManualClock()
  const deliveries = createMemoryDeliveryStore(createMemoryCollections())
  await deliveries.insertNew([newDelivery(requestOf(opened), 'webhook', clock.now())])
  const answered = (status: number) =>
    outcomeOfAttempt({
      deliveryId: OPENED_ID,
      channelKind: 'webhook',
      attempt: 1,
      test: false,
      firstAttemptAtMs: null,
      ladderAttemptsAtMs: [],
      startedAtMs: clock.now(),
      endedAtMs: clock.now(),
      answer: { kind: 'http', status, retryAfter: null, body: '' },
    })
  const logger = createLogger('test', 'silent')
  const order = (jobs: DeliveryJob[], untilStored: (ids: readonly string[]) => Promise<void> = async () => {}) =>
    orderIncidents(jobs, { deliveries, clock, logger, active: { untilStored } })
  return { deliveries, answered, order }
}

describe('a resolve', () => {
  test('waits until the outcome of its opening is recorded', async () => {
    const { deliveries, answered, order } = await createScenario()
    const { sendable } = await order([job(resolved)], async ids => {
      expect(ids).toContain(OPENED_ID)
      await deliveries.record([answered(200)])
    })
    expect(sendable.map(({ request }) => request.alert)).toEqual([resolved])
    expect((await deliveries.progressOf([OPENED_ID])).get(OPENED_ID)?.state).toBe('delivered')
  })

  test('announces both and ends the opening if the opening failed', async () => {
    const { deliveries, answered, order } = await createScenario()
    await deliveries.record([answered(500)])
    const { sendable } = await order([job(resolved)])
    expect(sendable[0]?.request.alert.data).toMatchObject({ supersedes: opened.alert_id })
    expect((await deliveries.progressOf([OPENED_ID])).get(OPENED_ID)?.state).toBe('superseded')
  })

  test('in one digest with its opening announces both once', async () => {
    const { order } = await createScenario()
    const both = [job(opened, true), job(resolved)]
    const { sendable, superseded } = await order(both)
    expect(sendable.map(({ job: one }) => one)).toEqual([both[1]])
    expect(superseded).toEqual([both[0]])
  })
})

test('an opening that is due after its resolve was sent is not sent', async () => {
  const { order } = await createScenario()
  await order([job(resolved)])
  expect((await order([job(opened, true)])).superseded).toHaveLength(1)
})

test('a message without dependent messages costs no read', async () => {
  const { order } = await createScenario()
  const { sendable } = await order([job(opened)], () => Promise.reject(new Error('asked')))
  expect(sendable).toHaveLength(1)
})

describe('a report about a storm', () => {
  const report = (number: number): Alert => {
    const sample = SAMPLE_ALERTS['storm.reported']()
    if (sample.event !== 'storm.reported') throw new Error('The sample is of another event')
    const { storm_id } = sample.data.storm
    const storm = { ...sample.data.storm, report: number }
    return { ...sample, alert_id: stormAlertId(storm_id, number), data: { ...sample.data, storm } }
  }
  async function createStorm(reports: number) {
    const scenario = await createScenario()
    const all = Array.from({ length: reports }, (_, index) => report(index + 1))
    await scenario.deliveries.insertNew(all.map(one => newDelivery(requestOf(one), 'webhook', 0)))
    return { ...scenario, all }
  }

  test('ends all earlier reports that wait, and they are not sent when they are due', async () => {
    const { order, deliveries, all } = await createStorm(3)
    const [first, second, third] = all as [Alert, Alert, Alert]
    expect((await order([job(third)])).sendable.map(({ request }) => request.alert)).toEqual([third])
    expect((await order([job(first, true), job(second, true)])).superseded).toHaveLength(2)
    const thirdId = requestOf(third).delivery_id
    expect((await deliveries.progressOf([thirdId])).get(thirdId)?.state).toBe('pending')
  })

  test('in one digest with earlier ones is the only one sent', async () => {
    const { order, all } = await createStorm(3)
    const { sendable, superseded } = await order(all.map(one => job(one)))
    expect(sendable.map(({ request }) => request.alert)).toEqual([all[2]])
    expect(superseded).toHaveLength(2)
  })
})
