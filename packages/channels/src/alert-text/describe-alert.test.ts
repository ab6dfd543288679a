import type { Action, Alert, Origin, VerdictReason } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import {
  sampleAction,
  sampleCanary,
  sampleChannelIncident,
  sampleConnectionIncident,
  sampleKeyIncident,
  settingWith,
} from '../../test/samples.ts'
import { renderMail } from '../email/message.ts'
import { slackMessage } from '../slack/message.ts'
import { describeAlert } from './describe-alert.ts'
import { SAMPLE_ALERTS, SAMPLE_READER } from './sample-alerts.ts'

type Of<E extends Alert['event']> = Extract<Alert, { event: E }>
const sample = <E extends keyof typeof SAMPLE_ALERTS & Alert['event']>(event: E) => SAMPLE_ALERTS[event]() as Of<E>
const factsOf = (alert: Alert) =>
  Object.fromEntries(describeAlert(alert, SAMPLE_READER).facts.map(({ label, value }) => [label, value]))

const OTHER_AMOUNT =
  'Your software reported a refund of EUR 49.90 on the same payment at 09:58 UTC; this one is EUR 1,249.90'

type Reported = NonNullable<NonNullable<NonNullable<Action['why']>['closest']>['reported']>

/** The facts of an action whose nearest operation reported this; undefined for an older record. */
function reporting(reported: Partial<Reported> | undefined): Pick<Action, 'why'> {
  const of = { amount: 4_990, currency: 'eur', at: '2026-11-21T09:58:02.000Z' }
  const closest = { operation_id: 'op_1', failure: 'other_amount', text: OTHER_AMOUNT } as const
  const why = { rule: 'Nothing explains it', candidates: [], read_back: null }
  return {
    why: { ...why, closest: reported === undefined ? closest : { ...closest, reported: { ...of, ...reported } } },
  }
}

const NOT_REPORTED = { rule: 'Nothing explains it', candidates: [], read_back: null }

describe('an unexplained action', () => {
  test('is described by who, what, how much, which customer, how, when and where', () => {
    const described = describeAlert(sampleAction(), SAMPLE_READER)
    expect(described).toMatchObject({
      title: 'Unexplained refund of EUR 1,249.90 · Jana Novak · Shop Germany',
      summary: '25 × what your software reported at 09:58 UTC (EUR 49.90).',
      tone: 'alarm',
      path: '/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b',
      providerUrl: 'https://dashboard.stripe.com/payments/pi_3QK5vLAbCdEfGhIj0aBcDeFg',
      reference: 'inc_6g2p0n4r8t1w5y9b',
      acts: ['acknowledge', 'ours', 'silence'],
    })
    expect(factsOf(sampleAction())).toEqual({
      When: '2026-11-21 09:58:41 UTC, 3 minutes ago',
      Payment: '2014-7788',
      How: 'By an API key or a dashboard user; the provider does not say which',
    })
  })

  test.each([
    { amount: 120_000, summary: 'Your software reported EUR 1,200.00 at 09:58 UTC, not EUR 1,249.90.' },
    { amount: 50_000, summary: '2.4 × what your software reported at 09:58 UTC (EUR 500.00).' },
    { amount: 249_980, summary: 'Your software reported EUR 2,499.80 at 09:58 UTC, not EUR 1,249.90.' },
    { amount: 0, summary: `${OTHER_AMOUNT}.` },
    { amount: null, summary: `${OTHER_AMOUNT}.` },
  ])(
    'that is not the $amount cents that your software reported says the most alarming form of it',
    ({ amount, summary }) => {
      expect(describeAlert(sampleAction(reporting({ amount })), SAMPLE_READER).summary).toBe(summary)
    },
  )

  test('amounts of different currencies are not compared, and an older record keeps its recorded difference', () => {
    const summaryOf = (why: Partial<Action>) => describeAlert(sampleAction(why), SAMPLE_READER).summary
    expect(summaryOf(reporting({ currency: 'usd' }))).toBe(`${OTHER_AMOUNT}.`)
    expect(summaryOf(reporting(undefined))).toBe(`${OTHER_AMOUNT}.`)
  })

  test('shows times in the time zone of its reader, and how long ago they were', () => {
    const shown = describeAlert(sampleAction(reporting({ at: '2026-11-20T09:58:02.000Z' })), {
      timeZone: 'Europe/Berlin',
      nowMs: Date.parse('2026-11-21T13:30:00.000Z'),
    })
    expect(shown.summary).toBe('25 × what your software reported at 2026-11-20 10:58:02 CET (EUR 49.90).')
    expect(shown.facts[0]?.value).toBe('2026-11-21 10:58:41 CET, 3 hours ago')
  })

  const cancellation = {
    kind: 'cancellation',
    subject: 'sub_1',
    amount: null,
    currency: null,
    provider_ref: 'sub_1',
    why: NOT_REPORTED,
  } as const
  const NOBODY_SAID = 'Neither your software nor your team reported it.'
  test.each<{ name: string; of: Partial<Action>; title: string; summary: string }>([
    {
      name: 'a set end that was taken back',
      of: { ...cancellation, state: 'canceled', subscription_continues: true },
      title: 'Unexplained cancellation (taken back)',
      summary: `${NOBODY_SAID} The subscription continues.`,
    },
    {
      name: 'a set end that another one replaced',
      of: { ...cancellation, state: 'canceled', subscription_continues: false },
      title: 'Unexplained cancellation (did not take effect)',
      summary: `${NOBODY_SAID} Another cancellation of the subscription followed.`,
    },
    {
      name: 'a set end that was taken back, of an older record',
      of: { ...cancellation, state: 'canceled' },
      title: 'Unexplained cancellation (taken back)',
      summary: `${NOBODY_SAID}`,
    },
    {
      name: 'an ended subscription that was reactivated',
      of: { ...cancellation, state: 'reversed', subscription_continues: true },
      title: 'Unexplained cancellation (taken back)',
      summary: `${NOBODY_SAID} The subscription continues.`,
    },
    {
      name: 'the release of an authorization',
      of: { state: 'canceled', authorization_released: true, why: NOT_REPORTED },
      title: 'Unexplained release of an authorization of EUR 1,249.90',
      summary: `${NOBODY_SAID} No money moved.`,
    },
  ])('says what became of $name', ({ of, title, summary }) => {
    const described = describeAlert(sampleAction(of), SAMPLE_READER)
    expect(described).toMatchObject({ title: `${title} · Jana Novak · Shop Germany`, summary })
  })

  test('of a connected account names the account, and how to see its payments', () => {
    const described = describeAlert(
      sampleAction({ account: 'acct_1', links: { provider: null, console: null } }),
      SAMPLE_READER,
    )
    expect(described.title).toMatch(/· Shop Germany \(acct_1\)$/)
    expect(described.next.steps[0]).toBe(
      "In the provider's dashboard, find the connected account acct_1 and view the dashboard as this account.",
    )
  })

  test('of an older record is described without the facts that it does not have', () => {
    const { origin, customer, payment, mode, links, why, ...older } = (sampleAction() as Of<'incident.opened'>).data
      .action as Action
    const alert = sample('incident.opened')
    const described = { ...alert, data: { incident: alert.data.incident, action: older } }
    expect(describeAlert(described, SAMPLE_READER)).toMatchObject({
      title: 'Unexplained refund of EUR 1,249.90',
      summary: 'Neither your software nor your team reported it.',
    })
    expect(factsOf(described)).toEqual({
      How: 'The provider does not say how or by whom',
      When: '2026-11-21 09:58:41 UTC, 3 minutes ago',
      Payment: 'pi_3QK5vLAbCdEfGhIj0aBcDeFg',
    })
  })

  const NOBODY: Origin = { channel: null, key_name: null, user: null, request_id: null, idempotency_key: null }
  test.each<{ origin: Partial<Origin>; provider?: Action['provider']; fact: string }>([
    {
      origin: { channel: 'dashboard', user: 'ops@example.com' },
      fact: "By a person in the provider's dashboard (ops@example.com)",
    },
    {
      origin: { channel: 'dashboard' },
      fact: "By a person in the provider's dashboard; the provider does not say who",
    },
    {
      origin: { channel: 'api', key_name: 'nightly-job' },
      fact: 'With the API key "nightly-job"',
    },
    {
      origin: { channel: 'api' },
      provider: 'reseller',
      fact: 'By an API key; the provider does not say which key',
    },
    {
      origin: { channel: 'automatic' },
      fact: 'Automatically by the provider itself',
    },
    {
      origin: { channel: 'hosted_page' },
      fact: "By the customer, on the provider's own page",
    },
    { origin: {}, fact: 'The provider does not say how or by whom' },
    {
      provider: 'subscription' as const,
      origin: { channel: 'dashboard' },
      fact: "By a person in the provider's dashboard; the name is not shown here",
    },
    {
      provider: 'subscription' as const,
      origin: { channel: 'api', key_name: 'Support tool', user: 'agent-7' },
      fact: 'With the API key "Support tool" (the caller states the user agent-7)',
    },
    {
      provider: 'subscription' as const,
      origin: { channel: 'api', user: 'agent-7' },
      fact: 'Through the API (the caller states the user agent-7)',
    },
  ])('with the origin $origin says so, or that the provider does not say', ({ origin, provider, fact }) => {
    const alert = sampleAction({ origin: { ...NOBODY, ...origin }, ...(provider === undefined ? {} : { provider }) })
    expect(factsOf(alert).How).toBe(fact)
  })

  test('shows only the id of a customer whose name and e-mail address are hidden', () => {
    const customer = { id: 'cus_9s6XKzkNRiz8i3', name: null, email: null }
    const titleOf = (of: Partial<Action>) => describeAlert(sampleAction(of), SAMPLE_READER).title
    expect(titleOf({ customer })).toBe('Unexplained refund of EUR 1,249.90 · cus_9s6XKzkNRiz8i3 · Shop Germany')
    expect(titleOf({ customer: { ...customer, id: '(hidden)' } })).toBe(
      'Unexplained refund of EUR 1,249.90 · Shop Germany',
    )
  })

  test('in test mode is marked in the headline, and is not urgent', () => {
    const described = describeAlert(sampleAction({ mode: 'test' }), SAMPLE_READER)
    expect(described.title).toBe('[Test mode] Unexplained refund of EUR 1,249.90 · Jana Novak · Shop Germany')
    expect(described.next.sentence).toBe('No real money moved, so there is no hurry.')
  })

  test.each([
    { state: 'failed', title: 'Unexplained refund of EUR 1,249.90 (failed)' },
    { state: 'canceled', title: 'Unexplained refund of EUR 1,249.90 (canceled)' },
    { state: 'requires_action', title: 'Unexplained refund of EUR 1,249.90 (requires action)' },
  ] as const)('that is $state does not say in its headline that money moved', ({ state, title }) => {
    expect(describeAlert(sampleAction({ state }), SAMPLE_READER).title).toBe(`${title} · Jana Novak · Shop Germany`)
  })

  test.each(['javascript:alert(1)', 'http://dashboard.example.com/pi_1', 'https://dashboard.example.com/<pi_1|x>'])(
    'has no link to the page %s',
    provider => {
      expect(describeAlert(sampleAction({ links: { provider, console: null } }), SAMPLE_READER).providerUrl).toBeNull()
    },
  )
})

describe('an incident that people changed', () => {
  const closed = (incident: object): Alert => {
    const { data, ...alert } = sample('incident.resolved')
    const ended = {
      state: 'resolved',
      resolved_at: '2026-11-21T10:04:00.000Z',
      resolved_by: 'Ann',
      ...incident,
    } as const
    return { ...alert, data: { ...sample('incident.opened').data, incident: { ...data.incident, ...ended } } }
  }

  test('is described with who acknowledged it and when', () => {
    const acknowledged = sample('incident.acknowledged')
    expect(describeAlert(acknowledged, SAMPLE_READER)).toMatchObject({
      title: 'Acknowledged: unexplained refund of EUR 1,249.90 · Jana Novak · Shop Germany',
      summary: 'On call acknowledged the incident at 2026-11-21 10:02:00 UTC.',
      acts: [],
      next: { sentence: 'Somebody works on it.', steps: [] },
      tone: 'neutral',
    })
  })

  test('is described with who resolved it, why, and the note', () => {
    const alert = closed({ reason: 'fraud_or_leaked_key', note: 'The key\nis revoked', assignee: 'Payments' })
    expect(describeAlert(alert, SAMPLE_READER)).toMatchObject({
      title: 'Resolved: unexplained refund of EUR 1,249.90 · Jana Novak · Shop Germany',
      summary: 'Ann resolved the incident at 2026-11-21 10:04:00 UTC: fraud or a leaked key.',
      acts: [],
      tone: 'relief',
    })
    expect(factsOf(alert)).toEqual({ Note: 'The key is revoked', 'Assigned to': 'Payments' })
    const mail = renderMail({ alert, branding: {}, ...settingWith(), unsubscribeUrl: null })
    for (const text of [JSON.stringify(slackMessage(alert, settingWith())), mail.text]) {
      expect(text).toContain('Ann resolved the incident')
      expect(text).toContain('The key is revoked')
    }
  })

  test('is called opened again when it is', () => {
    const { data, ...alert } = sample('incident.opened')
    const again: Alert = { ...alert, data: { ...data, incident: { ...data.incident, reopened: 1 } } }
    expect(describeAlert(again, SAMPLE_READER).title).toMatch(/^Opened again: unexplained refund of EUR 1,249\.90 ·/)
  })
})

describe('a resolved incident', () => {
  test("has the tone relief, and reports both the opening and the resolution in a channel's first message about it", () => {
    const resolved = sample('incident.resolved')
    expect(describeAlert(resolved, SAMPLE_READER)).toMatchObject({
      title: 'Resolved: the refund of EUR 1,249.90 is explained · Jana Novak · Shop Germany',
      summary: 'The refund of EUR 1,249.90 is explained: your software has now reported it as its own.',
      next: { sentence: 'There is nothing left to do.', steps: [] },
      tone: 'relief',
    })
    const first = describeAlert({ ...resolved, data: { ...resolved.data, supersedes: 'alr_1' } }, SAMPLE_READER)
    expect(first.title).toMatch(/^Opened and resolved: the refund of EUR 1,249\.90 is explained ·/)
  })

  test.each<{ verdict: Action['verdict']; reason: VerdictReason; ended: string; summary: RegExp }>([
    { verdict: 'not_alerted', reason: 'provider_denies_it', ended: 'did not go through', summary: /does not have it/ },
    {
      verdict: 'not_alerted',
      reason: 'plan_ended',
      ended: 'needs no explanation',
      summary: /Nothing explains it|needs no/,
    },
    {
      verdict: 'unexplained',
      reason: 'nothing_explains_it',
      ended: 'is no longer followed up here',
      summary: /closed without/,
    },
    {
      verdict: 'explained',
      reason: 'expected_change_matches',
      ended: 'is explained',
      summary: /as an expected change/,
    },
  ])('says how it ended: $reason', ({ ended, summary, ...verdict }) => {
    const resolved = sample('incident.resolved')
    const action = { ...(resolved.data.action as Action), ...verdict }
    const described = describeAlert({ ...resolved, data: { ...resolved.data, action } }, SAMPLE_READER)
    expect(described.title).toBe(`Resolved: the refund of EUR 1,249.90 ${ended} · Jana Novak · Shop Germany`)
    expect(described.summary).toMatch(summary)
  })
})

test.each([
  {
    name: 'a channel',
    alert: sampleChannelIncident(),
    title: 'An alert channel was disabled',
    facts: ['Project', 'Since'],
  },
  {
    name: 'an API key that expires soon',
    alert: sampleKeyIncident(),
    title: 'An API key expires soon',
    facts: ['Project', 'Since'],
  },
  {
    name: 'a recovered admin key',
    alert: sampleKeyIncident(undefined, 'KEY_RECOVERED'),
    title: 'An admin key was recovered',
    facts: ['Project', 'Since'],
  },
  {
    name: 'a silent feed',
    alert: sampleConnectionIncident('FEED_SILENT'),
    title: 'Notifications of "Shop Germany" do not arrive',
    facts: ['Project', 'Since'],
  },
  {
    name: 'a refused read key',
    alert: sampleConnectionIncident('VERIFICATION_UNAVAILABLE'),
    title: 'Notifications of "Shop Germany" cannot be checked',
    facts: ['Project', 'Since'],
  },
])('an incident about $name shows what to repair', ({ alert, title, facts }) => {
  const described = describeAlert(alert, SAMPLE_READER)
  expect(described).toMatchObject({ title, tone: 'alarm', providerUrl: null })
  expect(described.facts.map(fact => fact.label)).toEqual(facts)
  expect(described.next.steps).toHaveLength(2)
  expect(described.summary).not.toMatch(/\dT\d\d:/)
})

describe('a canary that was used', () => {
  test('is named with what a canary is, and what to do first', () => {
    const described = describeAlert(sampleCanary(), SAMPLE_READER)
    expect(described).toMatchObject({
      title: 'Canary used: refund of EUR 1,249.90 · Jana Novak · Shop Germany',
      summary: 'A canary made it: a key or login that exists only as a trap.',
      facts: expect.arrayContaining([{ label: 'How', value: 'By Old backup key, with the API key "mk_1QfR8s"' }]),
      next: { sentence: expect.stringMatching(/^Treat this as a break-in/) },
      tone: 'alarm',
    })
    expect(described.next.steps[0]).toContain('mk_1QfR8s')
    expect(described.next.steps.at(-1)).toContain('by mistake')
  })

  test('is as urgent in test mode: whoever used it has the key', () => {
    expect(describeAlert(sampleCanary({ mode: 'test' }), SAMPLE_READER).next.sentence).toContain('break-in')
  })

  test('is described as resolved by a person', () => {
    const end = { state: 'resolved', reason: 'fraud_or_leaked_key', resolved_by: 'Ann' } as const
    const { data, ...alert } = sampleCanary({}, end) as Of<'incident.opened'>
    const described = describeAlert({ ...alert, event: 'incident.resolved', data } as Alert, SAMPLE_READER)
    expect(described.title).toMatch(/^Resolved: canary used: refund of EUR 1,249\.90 ·/)
  })
})

test.each<{ origin: Partial<Origin>; text: string }>([
  { origin: { channel: 'api', key_name: 'mk_1' }, text: 'by Support tool, with the API key "mk_1"' },
  { origin: { channel: 'api' }, text: 'by Support tool, as the idempotency key says' },
  {
    origin: { channel: 'dashboard', user: 'ana@example.com' },
    text: "by Support tool, in the provider's dashboard (ana@example.com)",
  },
  { origin: { channel: 'hosted_page' }, text: "by Support tool, on the provider's own page" },
  { origin: { channel: 'automatic' }, text: 'by Support tool, automatically by the provider itself' },
])('the name of an actor is shown with $origin.channel, where its origin is', ({ origin: facts, text }) => {
  const origin = { channel: null, key_name: null, user: null, request_id: null, idempotency_key: null, ...facts }
  const { facts: rows } = describeAlert(sampleAction({ actor_name: 'Support tool', origin }), SAMPLE_READER)
  expect(rows.find(({ label }) => label === 'How')?.value).toBe(`B${text.slice(1)}`)
})

test('an operation that the provider does not have, or has with other data, is described by what to compare', () => {
  const drift = sample('drift.detected')
  expect(describeAlert(drift, SAMPLE_READER)).toMatchObject({
    title: 'Different at the provider: refund of EUR 1,249.90 · Jana Novak · Shop Germany',
    summary: 'Your software reported a refund of EUR 1,249.90, but the provider has another amount.',
    facts: expect.arrayContaining([
      { label: 'Amount', value: 'Your software reported EUR 1,249.90; the provider has EUR 1,299.90' },
      { label: 'Payment', value: '2014-7788' },
    ]),
  })
  const existence = { field: 'existence', operation_says: 'completed', provider_says: 'not found' } as const
  const missing: Alert = { ...drift, data: { ...drift.data, action: null, differences: [existence] } }
  expect(describeAlert(missing, SAMPLE_READER)).toMatchObject({
    title: 'Not at the provider: refund of EUR 1,249.90 · Shop Germany',
    summary: expect.stringContaining('The customer may still wait for it.'),
    facts: expect.arrayContaining([{ label: 'Payment', value: 'pi_3QK5vLAbCdEfGhIj0aBcDeFg' }]),
  })
})

test('external text in any field cannot reverse, hide or break the text around it, mention anyone or become markup', () => {
  const bad = 'Söhne \u202e& Co\u2066 <!channel>\u200b <script>1</script>\r\nBcc: x@example.com'
  const alert = sampleAction({
    subject: bad,
    provider_ref: bad,
    origin: { channel: 'dashboard', key_name: bad, user: bad, request_id: bad, idempotency_key: bad },
    customer: { id: bad, name: bad, email: bad },
    payment: { number: bad, plan: bad, refund_reason: bad, destination: bad },
    why: {
      rule: bad,
      candidates: [],
      closest: { operation_id: bad, failure: 'other_amount', text: bad },
      read_back: null,
    },
  }) as Of<'incident.opened'>
  const named: Alert = { ...alert, data: { ...alert.data, names: { project: bad, connection: bad } } }
  const slack = slackMessage(named, settingWith())
  const mail = renderMail({ alert: named, branding: {}, ...settingWith(), unsubscribeUrl: null })
  expect(JSON.stringify([slack, mail])).not.toMatch(/[\u202e\u2066\u200b]/)
  expect(mail.html).not.toMatch(/<script>1/)
  expect(mail.text).not.toMatch(/^Bcc:/m)
  const interpreted = [slack.text, ...(slack.blocks ?? []).flatMap(mrkdwnOf)]
  for (const text of interpreted) expect(text).not.toMatch(/<[!@#]|<https?:/)
  expect(describeAlert(named, SAMPLE_READER).title).toContain('Söhne <U+202E>& Co<U+2066> <!channel><U+200B>')
})

function mrkdwnOf(block: NonNullable<ReturnType<typeof slackMessage>['blocks']>[number]): string[] {
  if (block.type !== 'section') return []
  const texts = 'fields' in block ? block.fields : [block.text]
  return texts.filter(({ type }) => type === 'mrkdwn').map(({ text }) => text)
}

const everyAlert = [
  ...Object.values(SAMPLE_ALERTS).map(make => make()),
  sampleChannelIncident(),
  sampleKeyIncident(),
  sampleConnectionIncident('FEED_SILENT'),
  sampleConnectionIncident('VERIFICATION_UNAVAILABLE'),
]
test.each(everyAlert)('$event gives no call of the API as advice, and names ids only where there is no name', alert => {
  const { title, summary, facts, next } = describeAlert(alert, SAMPLE_READER)
  const text = [title, summary, next.sentence, ...next.steps, ...facts.map(({ value }) => value)].join('\n')
  expect(text).not.toMatch(/\b(GET|POST|PATCH|PUT|DELETE) |\/v1\//)
  expect(text).not.toMatch(/\b(inc|op|con|act|bud|chn|prj)_[a-z0-9]/)
  expect(next.sentence).toMatch(/^[A-Z].*\.$/)
  expect(summary).toMatch(/\.$/)
})
