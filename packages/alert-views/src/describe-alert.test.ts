import { expect, test } from 'vitest'
import { describeAlert } from './describe-alert.ts'
import { SAMPLE_ALERTS, sampleChannelIncident } from './sample-alerts.ts'
import { slackMessage } from './slack/slack-message.ts'

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

test('an id cannot turn, hide or break what stands around it, in any channel', () => {
  const sample = SAMPLE_ALERTS['incident.opened']()
  if (sample.event !== 'incident.opened' || sample.data.action === null)
    throw new Error('The sample is of another event')
  const subject = 'Söhne \u202e& Co\u2066 <!channel>\u200b'
  const summary = `A refund on ${subject} has no explanation`
  const { incident, action } = sample.data
  const alert = { ...sample, data: { incident: { ...incident, summary }, action: { ...action, subject } } }
  const shown = 'Söhne <U+202E>& Co<U+2066> <!channel><U+200B>'
  const described = describeAlert(alert)
  expect(described.summary).toBe(`A refund on ${shown} has no explanation`)
  expect(described.facts).toContainEqual({ label: 'Payment', value: shown })
  expect(JSON.stringify(slackMessage(alert, null, 'Backstop'))).not.toMatch(/[\u202e\u2066\u200b]/)
})
