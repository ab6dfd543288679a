import { expect, test } from 'vitest'
import { slackMessage } from '../slack/message.ts'
import { describeAlert } from './describe-alert.ts'
import { SAMPLE_ALERTS, sampleChannelIncident } from './sample-alerts.ts'

test('an incident shows the facts that a person needs to act', () => {
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
    'Time at the provider',
    'Opened at',
    'Incident',
  ])
})

test("a resolved incident has the tone relief, and reports both the opening and the resolution in a channel's first message about it", () => {
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

test.each([
  { state: 'failed', title: 'Unexplained refund of EUR 1,249.90 (failed)' },
  { state: 'canceled', title: 'Unexplained refund of EUR 1,249.90 (canceled)' },
  { state: 'requires_action', title: 'Unexplained refund of EUR 1,249.90 (requires action)' },
] as const)('the title of an alert about a refund that is $state does not say that money moved', ({ state, title }) => {
  const opened = SAMPLE_ALERTS['incident.opened']()
  if (opened.event !== 'incident.opened' || opened.data.action === null)
    throw new Error('The sample is of another event')
  expect(describeAlert({ ...opened, data: { ...opened.data, action: { ...opened.data.action, state } } }).title).toBe(
    title,
  )
})

test.each([
  { verdict: 'not_alerted', reason: 'provider_denies_it', ended: 'did not go through' },
  { verdict: 'not_alerted', reason: 'kind_is_not_judged', ended: 'needs no explanation' },
  { verdict: 'unexplained', reason: 'nothing_explains_it', ended: 'is no longer followed up here' },
] as const)(
  'the title of a resolved incident says "is explained" only for an explained action: $reason',
  ({ ended, ...verdict }) => {
    const resolved = SAMPLE_ALERTS['incident.resolved']()
    if (resolved.event !== 'incident.resolved' || resolved.data.action === null)
      throw new Error('The sample is of another event')
    const action = { ...resolved.data.action, ...verdict }
    expect(describeAlert({ ...resolved, data: { ...resolved.data, action } }).title).toBe(
      `Resolved: the refund of EUR 1,249.90 ${ended}`,
    )
  },
)

test('an incident without an action is described by its code and shows no facts about an action', () => {
  const described = describeAlert(sampleChannelIncident())
  expect(described).toMatchObject({ title: 'An alert channel was disabled', tone: 'alarm' })
  expect(described.facts.map(fact => fact.label)).toEqual(['Channel', 'Opened at', 'Incident'])
})

test('an id cannot reverse, hide or break the text around it, in any channel', () => {
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
