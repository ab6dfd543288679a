import { expect, test } from 'vitest'
import { alert, channelIncident, resolvedAlert, testAlert } from '../../test/fixtures.ts'
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

test('a resolve says that it is good news, and tells both facts to a channel that never heard of the incident', () => {
  const resolved = resolvedAlert()
  expect(describeAlert(resolved)).toMatchObject({
    title: 'Resolved: the refund of EUR 24.99 is explained',
    tone: 'relief',
  })
  const first = describeAlert({ ...resolved, data: { ...resolved.data, supersedes: 'alr_1' } })
  expect(first.title).toBe('Opened and resolved: the refund of EUR 24.99 is explained')
  expect(first.facts.map(fact => fact.label)).toEqual(expect.arrayContaining(['Opened at', 'Resolved at']))
})

test('an incident that is about no action is described by its code, without facts that it does not have', () => {
  const described = describeAlert(channelIncident())
  expect(described).toMatchObject({
    title: 'An alert channel was disabled',
    summary: 'The alert channel "Ops" was disabled: The receiver answered 410 Gone',
    tone: 'alarm',
  })
  expect(described.facts.map(fact => fact.label)).toEqual(['Channel', 'Opened at', 'Incident'])
})

test('messages about one incident share their key; a test stands for itself', () => {
  expect(orderingKey(alert({ id: 'a', incident: { incident_id: 'inc_9' } }))).toBe('inc_9')
  expect(orderingKey(testAlert('chn_1', 'alr_9'))).toBe('alr_9')
})
