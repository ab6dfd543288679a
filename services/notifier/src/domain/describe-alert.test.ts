import { expect, test } from 'vitest'
import { alert, testAlert } from '../../test/fixtures.ts'
import { describeAlert, orderingKey } from './describe-alert.ts'

test('an incident is described with what a person needs to act', () => {
  const described = describeAlert(alert())
  expect(described).toMatchObject({
    title: 'Unexplained refund of EUR 24.99',
    tone: 'alarm',
    path: '/incidents/inc_alr_1',
  })
  expect(described.facts.map(fact => fact.label)).toEqual([
    'What',
    'Provider',
    'Payment',
    'Id at the provider',
    'Connection',
    'Made at',
    'Opened at',
    'Incident',
  ])
})

test('messages about one incident share their key; a test stands for itself', () => {
  expect(orderingKey(alert({ id: 'a', incident: { incident_id: 'inc_9' } }))).toBe('inc_9')
  expect(orderingKey(testAlert('chn_1', 'alr_9'))).toBe('alr_9')
})
