import { SAMPLE_ALERTS } from '@backstop/channels'
import { type IncidentAlert, incidentAlerts, reopened, testAlert } from '@backstop/channels/test'
import { deliveryIdOf, incidentAlertId, stormAlertId } from '@backstop/contracts'
import { expect, test } from 'vitest'
import type { DeliveryProgress } from '../../delivery-record/delivery-store.ts'
import { decideIncidentOrder, includeOpening, precedingDeliveryIds } from './decide-order.ts'

const progress = (state: DeliveryProgress['state'], nextAttempt: number | null): DeliveryProgress => ({
  state,
  reason: '',
  createdAtMs: 1,
  isRequeued: false,
  firstAttemptAtMs: 1,
  ladderAttemptsAtMs: [],
  lastAttempt: 1,
  lastAttemptAtMs: 1,
  goesAlone: false,
  digestGroup: null,
  next: nextAttempt === null ? null : { attempt: nextAttempt, dueAtMs: 1, topic: 'deliveries.retry.5s' },
})

test.each([
  { name: 'was delivered', opened: progress('delivered', null), expected: { kind: 'as_it_is' } },
  { name: 'did not go to this channel', opened: undefined, expected: { kind: 'as_it_is' } },
  { name: 'still waits', opened: progress('pending', 1), expected: { kind: 'supersede', waitsFor: 1 } },
  { name: 'is retried', opened: progress('retrying', 3), expected: { kind: 'supersede', waitsFor: 3 } },
  { name: 'was given up', opened: progress('dead', null), expected: { kind: 'supersede', waitsFor: null } },
  { name: 'was superseded before', opened: progress('superseded', null), expected: { kind: 'announces_both' } },
])('a resolve whose incident.opened $name: $expected.kind', ({ opened, expected }) => {
  expect(decideIncidentOrder(opened)).toMatchObject(expected)
})

test('the alerts about one incident come in their order on the same channel; nothing else waits', () => {
  const { opened, acknowledged, resolved } = incidentAlerts('inc_1')
  const idsOf = (...alerts: IncidentAlert[]) => alerts.map(({ alert_id }) => deliveryIdOf(alert_id, 'chn_1'))
  expect(precedingDeliveryIds(opened, 'chn_1')).toEqual([])
  expect(precedingDeliveryIds(acknowledged, 'chn_1')).toEqual(idsOf(opened))
  expect(precedingDeliveryIds(resolved, 'chn_1')).toEqual(idsOf(opened, acknowledged))
  expect(precedingDeliveryIds(reopened(opened), 'chn_1')).toEqual(idsOf(opened, acknowledged, resolved))
  expect(precedingDeliveryIds(reopened(acknowledged), 'chn_1')).toEqual(idsOf(reopened(opened)))
  expect(precedingDeliveryIds(testAlert('chn_1'), 'chn_1')).toEqual([])
})

test('a report about a storm comes after all earlier reports of the storm', () => {
  const sample = SAMPLE_ALERTS['storm.reported']()
  if (sample.event !== 'storm.reported') throw new Error('The sample is of another event')
  const { storm } = sample.data
  const before = (report: number) => precedingDeliveryIds({ ...sample, data: { storm: { ...storm, report } } }, 'chn_1')
  expect(before(1)).toEqual([])
  expect(before(3)).toEqual([1, 2].map(report => deliveryIdOf(stormAlertId(storm.storm_id, report), 'chn_1')))
  const bursts = [{ incident_id: 'inc_burst', opened_at: storm.first_at, count: 12 }]
  const ofBurst = { ...sample, data: { storm: { ...storm, report: 1, bursts } } }
  const alarm = deliveryIdOf(incidentAlertId('inc_burst', 'incident.opened'), 'chn_1')
  expect(precedingDeliveryIds(ofBurst, 'chn_1')).toEqual([alarm])
})

test('a message that announces both names the superseded alert', () => {
  const { opened, resolved } = incidentAlerts('inc_1')
  expect(includeOpening(resolved)).toEqual({ ...resolved, data: { ...resolved.data, supersedes: opened.alert_id } })
  expect(includeOpening(opened)).toBe(opened)
})
