import { expect, test } from 'vitest'
import { describeAlert } from './describe-alert.ts'
import { SAMPLE_ALERTS, sampleChannelIncident } from './sample-alerts.ts'

test('an incident is described with what a person needs to act', () => {
  const described = describeAlert(SAMPLE_ALERTS['incident.opened']())
  expect(described).toMatchObject({
    title: 'Unexplained refund of EUR 1,249.90',
    tone: 'alarm',
    path: '/incidents/inc_6g2p0n4r8t1w5y9b',
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
  const resolved = SAMPLE_ALERTS['incident.resolved']()
  if (resolved.event !== 'incident.resolved') throw new Error('The sample is of another event')
  expect(describeAlert(resolved)).toMatchObject({
    title: 'Resolved: the refund of EUR 1,249.90 is explained',
    tone: 'relief',
  })
  const first = describeAlert({ ...resolved, data: { ...resolved.data, supersedes: 'alr_1' } })
  expect(first.title).toBe('Opened and resolved: the refund of EUR 1,249.90 is explained')
  expect(first.facts.map(fact => fact.label)).toEqual(expect.arrayContaining(['Opened at', 'Resolved at']))
})

test('an incident that is about no action is described by its code, without facts that it does not have', () => {
  const described = describeAlert(sampleChannelIncident())
  expect(described).toMatchObject({ title: 'An alert channel was disabled', tone: 'alarm' })
  expect(described.facts.map(fact => fact.label)).toEqual(['Channel', 'Opened at', 'Incident'])
})
