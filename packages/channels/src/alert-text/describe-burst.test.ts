import { type ActorKind, type Alert, NOTHING_IN_COMMON, type StormCommonFacts } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { sampleBurst, sampleBurstEnd, settingWith } from '../../test/samples.ts'
import { pagerDutyEvent } from '../pagerduty/message.ts'
import { withoutPersonalData } from '../personal-data.ts'
import { describeAlert } from './describe-alert.ts'
import { SAMPLE_READER } from './sample-alerts.ts'

const factsOf = (alert: Alert) =>
  Object.fromEntries(describeAlert(alert, SAMPLE_READER).facts.map(({ label, value }) => [label, value]))

describe('the alert about a burst', () => {
  test('says how many, how much, how fast, by whom, when the second looks are, and what to do', () => {
    const described = describeAlert(sampleBurst(), SAMPLE_READER)
    expect(described).toMatchObject({
      title: 'Burst: 12 unexplained refunds on "Shop Germany" within 3 seconds, EUR 598.80 and USD 49.90',
      summary:
        'Nothing explains them so far. All 12 were made with the API key "Billing server". Backstop looks again from 10:00 UTC.',
      tone: 'alarm',
      path: '/p/prj_sample/incidents/inc_4k7m0q3v6x9b2d5g',
      reference: 'stm_7h1c5v9q3x6m0k2d',
      acts: ['acknowledge', 'silence'],
    })
    expect(factsOf(sampleBurst())).toEqual({
      'In common': 'EUR 49.90 (10 of 12)',
      When: '2026-11-21 09:59:55 UTC',
    })
    expect(described.next.sentence).toBe('If none of your programs made this, replace the key "Billing server".')
    expect(described.next.steps[1]).toMatch(/^Delete the key "Billing server"/)
    expect(described.next.steps.at(-1)).toMatch(/^If your own software made them and only reports them late/)
  })

  test('does not claim to know how the actions were made if the provider does not say', () => {
    const { common: _unknown, ...burst } = sampleBurstOf()
    expect(describeAlert(sampleBurst({ ...burst, common: undefined }), SAMPLE_READER).summary).toContain(
      'The provider does not say how or by whom.',
    )
  })

  test('of test money is marked, and has no hurry', () => {
    const money = [{ currency: 'eur', amount: 100, count: 12, mode: 'test' as const }]
    expect(describeAlert(sampleBurst({ money }), SAMPLE_READER)).toMatchObject({
      title: expect.stringMatching(/^\[Test mode\] Burst: 12 unexplained refunds/),
      next: { sentence: 'No real money moved, so there is no hurry.' },
    })
  })

  test('that is over says so in one sentence', () => {
    expect(describeAlert(sampleBurstEnd('explained'), SAMPLE_READER)).toMatchObject({
      title: 'Resolved: the burst of 12 refunds on "Shop Germany" is over',
      summary: 'The alarm is over: 12 of 12 actions were explained or need no explanation.',
      tone: 'relief',
      next: { sentence: expect.stringContaining('see in the console whether one is open') },
    })
  })

  test('that the second looks confirm goes on as a storm', () => {
    expect(describeAlert(sampleBurstEnd('confirmed'), SAMPLE_READER)).toMatchObject({
      title: 'Resolved: the burst of 12 refunds on "Shop Germany" continues as a storm',
      summary:
        'The second looks confirmed the alarm: nothing explains 12 of 12 actions. The incidents of its storm are open.',
    })
  })

  test('whose second looks are late ends without claiming to be explained', () => {
    const resolution = 'The second looks of 3 of 12 actions are late; each of them alerts by itself'
    expect(
      describeAlert(sampleBurst({}, { state: 'resolved', resolution }, 'incident.resolved'), SAMPLE_READER),
    ).toMatchObject({
      title: 'Resolved: the burst of 12 refunds on "Shop Germany" still waits for its second looks',
      summary: 'The alarm is over: the second looks of 3 of 12 actions are late; each of them alerts by itself.',
    })
  })

  test('that a person resolved says who', () => {
    const end = {
      resolution: 'Resolved by Ann',
      reason: 'our_own_change',
      resolved_by: 'Ann',
      state: 'resolved',
    } as const
    expect(describeAlert(sampleBurst({}, end, 'incident.resolved'), SAMPLE_READER)).toMatchObject({
      title: 'Resolved: burst: 12 unexplained refunds on "Shop Germany" within 3 seconds, EUR 598.80 and USD 49.90',
      summary: 'Ann resolved the incident: it was our own change.',
    })
  })
})

test('the alerts about a burst and the reports of its storm are one alert in PagerDuty, and one conversation as mail', () => {
  const dedup_key = 'stm_7h1c5v9q3x6m0k2d'
  const event = (alert: Alert) => pagerDutyEvent(alert, settingWith())
  expect(event(sampleBurst())).toMatchObject({
    event_action: 'trigger',
    dedup_key,
    payload: { severity: 'critical', class: 'UNEXPLAINED_BURST', component: 'subscription', source: 'Shop Germany' },
  })
  expect(event(sampleBurst({}, { state: 'acknowledged' }, 'incident.acknowledged'))).toEqual({
    event_action: 'acknowledge',
    dedup_key,
  })
  expect(event(sampleBurstEnd('explained'))).toEqual({ event_action: 'resolve', dedup_key })
  for (const alert of [sampleBurst(), sampleBurstEnd('explained')]) {
    expect(describeAlert(alert, SAMPLE_READER).reference).toBe(dedup_key)
  }
  // The storm goes on without the burst.
  expect(event(sampleBurstEnd('explained', { storm_id: null }))).toMatchObject({ dedup_key: 'inc_4k7m0q3v6x9b2d5g' })
})

test('a burst of test money has the lowest severity', () => {
  const money = [{ currency: 'eur', amount: 100, count: 12, mode: 'test' as const }]
  expect(pagerDutyEvent(sampleBurst({ money }), settingWith())).toMatchObject({ payload: { severity: 'info' } })
})

describe('an actor that people named', () => {
  const by = (kind: ActorKind, count: number, facts: Partial<StormCommonFacts> = {}) =>
    sampleBurst({
      common: { ...NOTHING_IN_COMMON, actor: { value: 'acr_1', kind, name: 'Support tool', count }, ...facts },
    })

  test('is named with its key or user, and with its share', () => {
    const key_name = { value: 'Billing server', count: 12 }
    const described = describeAlert(by('api_key', 12, { key_name }), SAMPLE_READER)
    expect(described.summary).toContain('All 12 were made by Support tool (API key "Billing server").')
    const summaryOf = (alert: Alert) => describeAlert(alert, SAMPLE_READER).summary
    expect(summaryOf(by('api_key', 11, { key_name }))).toContain(
      '11 of 12 were made by Support tool (API key "Billing server").',
    )
    const half = { value: 'Billing server', count: 6 }
    expect(summaryOf(by('api_key', 6, { key_name: half }))).toContain('6 of 12 were made by Support tool (API key).')
    const user = { value: 'ana@acme.example', count: 12 }
    expect(summaryOf(by('dashboard_user', 12, { user }))).toContain(
      `by Support tool (user of the provider's dashboard "ana@acme.example").`,
    )
    expect(summaryOf(by('key_prefix', 12))).toContain('by Support tool (as the idempotency keys say).')
  })

  test('is hidden in channels that must not show personal data if it is a user', () => {
    const summaryOf = (alert: Alert) => describeAlert(withoutPersonalData(alert), SAMPLE_READER).summary
    expect(summaryOf(by('dashboard_user', 12))).toContain('The provider does not say how or by whom.')
    expect(summaryOf(by('api_key', 12))).toContain('All 12 were made by Support tool (API key).')
  })
})

test('users, names and addresses are hidden in channels that must not show personal data', () => {
  const common = {
    ...sampleBurstOf().common,
    channel: null,
    key_name: null,
    subject: null,
    amount: null,
    user: { value: 'ann@acme.example', count: 12 },
    customer: { value: { id: 'cus_1', name: 'Jana Novak', email: 'jana@example.com' }, count: 12 },
    refund_reason: { value: 'Jana asked for it', count: 12 },
  }
  const hidden = withoutPersonalData(sampleBurst({ provider: 'reseller', common }))
  expect(JSON.stringify(hidden)).not.toMatch(/Jana|jana|ann@/)
  expect(hidden).toMatchObject({ data: { incident: { burst: { count: 12, common: { customer: { count: 12 } } } } } })
})

function sampleBurstOf() {
  const { data } = sampleBurst()
  if (!('incident' in data) || data.incident.burst === undefined) throw new Error('The sample has no burst')
  return data.incident.burst
}
