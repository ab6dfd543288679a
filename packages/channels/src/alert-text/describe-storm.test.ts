import { type Alert, NOTHING_IN_COMMON, type Storm } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { settingWith } from '../../test/samples.ts'
import { slackMessage } from '../slack/message.ts'
import { describeAlert } from './describe-alert.ts'
import { SAMPLE_ALERTS, SAMPLE_READER } from './sample-alerts.ts'

function stormAlert(facts: Partial<Storm> = {}): Alert {
  const sample = SAMPLE_ALERTS['storm.reported']()
  if (sample.event !== 'storm.reported') throw new Error('The sample is of another event')
  return { ...sample, data: { ...sample.data, storm: { ...sample.data.storm, ...facts } } }
}
const factsOf = (facts: Partial<Storm>) =>
  Object.fromEntries(describeAlert(stormAlert(facts), SAMPLE_READER).facts.map(({ label, value }) => [label, value]))

const SUPPORT_TOOL = {
  channel: { value: 'api' as const, count: 400 },
  key_name: { value: 'Support tool', count: 400 },
}

const common = (facts: Partial<Storm['common']>) => ({ common: { ...NOTHING_IN_COMMON, ...facts } })

describe('the message about a storm', () => {
  test('says how many, how much, which customers, how, where and what to do', () => {
    const { title, summary, next, tone, reference, acts, path, providerUrl } = describeAlert(
      stormAlert(),
      SAMPLE_READER,
    )
    expect(title).toBe('Update: 400 unexplained refunds on "Shop Germany", EUR 19,161.60 and USD 798.40')
    expect(summary).toBe('More since the last message. 397 of 400 were made with the API key "Billing server".')
    expect(next).toEqual({
      sentence: 'If none of your programs made this, replace the key "Billing server".',
      steps: [
        "In the settings of the provider's dashboard, open API Keys and Webhooks > API Keys.",
        'Delete the key "Billing server", and create a new one for the program that used it.',
        "Ask the provider's support which of them can still be taken back. Begin with the largest amounts.",
      ],
    })
    expect({ tone, path, reference, acts }).toEqual({
      tone: 'alarm',
      path: '/p/prj_sample/storms/stm_7h1c5v9q3x6m0k2d',
      reference: 'stm_7h1c5v9q3x6m0k2d',
      acts: ['acknowledge', 'ours', 'silence'],
    })
    expect(providerUrl).toMatch(/^https:\/\/acme-games\.chargebee\.com\/d\/transactions\//)
    expect(factsOf({})).toEqual({
      Customers: '311',
      'In common': 'EUR 49.90 (371 of 400)',
      When: 'Within 66 seconds from 2026-11-21 09:59:52 UTC',
    })
  })

  test('of a connected account names the account, and how to see its payments', () => {
    const { title, next } = describeAlert(stormAlert({ report: 1, account: 'acct_1' }), SAMPLE_READER)
    expect(title).toMatch(/^400 unexplained refunds on the account acct_1 of "Shop Germany", /)
    expect(next?.steps[0]).toContain('find the connected account acct_1')
  })

  test('of many connected accounts says how many', () => {
    const { title } = describeAlert(stormAlert({ report: 1, accounts: 37 }), SAMPLE_READER)
    expect(title).toMatch(/^400 unexplained refunds on 37 accounts of "Shop Germany", /)
  })

  test('begins and ends in words of its own, and the end says how many are explained', () => {
    const began = describeAlert(stormAlert({ report: 1, count: 10 }), SAMPLE_READER)
    expect(began.title).toMatch(/^10 unexplained refunds on "Shop Germany"/)
    expect(began.summary).toContain('Neither your software nor your team reported them. A few summaries follow')
    const ended = describeAlert(stormAlert({ state: 'ended', report: 4, explained: 12, resolved: 12 }), SAMPLE_READER)
    expect(ended.title).toMatch(/^Ended: 400 unexplained refunds/)
    expect(ended.summary).toContain('12 of them have been explained since.')
    expect(ended.facts).toContainEqual({ label: 'Explained since', value: '12 of 400' })
    const over = describeAlert(stormAlert({ state: 'ended', explained: 400, resolved: 400 }), SAMPLE_READER)
    expect(over.summary).toContain('all have been explained since.')
    expect(over).toMatchObject({ tone: 'relief', next: { sentence: 'There is nothing left to do.', steps: [] } })
  })

  test('that confirms a burst says which alarm it continues', () => {
    const bursts = [{ incident_id: 'inc_1', opened_at: '2026-11-21T09:58:59.000Z', count: 12 }]
    const confirmed = describeAlert(stormAlert({ report: 1, bursts }), SAMPLE_READER)
    expect(confirmed.title).toMatch(/^Confirmed: 400 unexplained refunds on "Shop Germany"/)
    expect(confirmed.summary).toBe(
      'It continues the burst of 09:58 UTC. 397 of 400 were made with the API key "Billing server".',
    )
    expect(describeAlert(stormAlert({ report: 2, bursts }), SAMPLE_READER).title).toMatch(/^Update: /)
  })

  test('about one action is in the singular', () => {
    const one = { kinds: [{ kind: 'refund' as const, count: 1 }], count: 1, money: [], customers: 1 }
    const key_name = { value: 'Billing server', count: 1 }
    expect(describeAlert(stormAlert({ ...one, ...common({ key_name }) }), SAMPLE_READER)).toMatchObject({
      title: 'Update: 1 unexplained refund on "Shop Germany"',
      summary: expect.stringMatching(/ It was made with the API key "Billing server"\.$/),
    })
  })

  test('sums only money that moved, and says how many actions moved none', () => {
    const money = [{ currency: 'eur', amount: 1_000, count: 397, largest: 100 }]
    const some = describeAlert(stormAlert({ money, without_money: 3 }), SAMPLE_READER)
    expect(some.summary).toContain(' 3 of them failed or were canceled: no money moved. ')
    expect(describeAlert(stormAlert({ money, without_money: 1 }), SAMPLE_READER).summary).toContain(
      '1 of them failed or was canceled:',
    )
    const all = describeAlert(stormAlert({ money: [], without_money: 400 }), SAMPLE_READER)
    expect(all.summary).toContain('All failed or were canceled: no money moved.')
    expect(all.title).toBe('Update: 400 unexplained refunds on "Shop Germany"')
    expect(describeAlert(stormAlert({ without_money: 0 }), SAMPLE_READER).summary).toBe(
      describeAlert(stormAlert(), SAMPLE_READER).summary,
    )
  })

  test('keeps test money apart from live money', () => {
    const live = { currency: 'eur', amount: 1_000, count: 399, largest: 100, mode: 'live' as const }
    const inTest = { currency: 'eur', amount: 700, count: 1, largest: 700, mode: 'test' as const }
    const { title, facts } = describeAlert(stormAlert({ mode: null, money: [live, inTest] }), SAMPLE_READER)
    expect(title).toBe('Update: 400 unexplained refunds on "Shop Germany", EUR 10.00')
    expect(facts).toContainEqual({
      label: 'Money',
      value: 'EUR 10.00 (live, 399 actions), EUR 7.00 (test mode, 1 action)',
    })
  })

  test.each([
    {
      name: 'nothing',
      facts: {},
      summary: /The provider does not say how or by whom\.$/,
      firstStep: /^Open the payment with the largest amount in the provider's dashboard/,
    },
    {
      name: 'a user of the dashboard',
      facts: { channel: { value: 'dashboard' as const, count: 400 }, user: { value: 'anna@acme.example', count: 400 } },
      summary: /All 400 were made by a person in the provider's dashboard \(anna@acme\.example\)\.$/,
      firstStep: /^If anna@acme\.example did not do it/,
    },
    {
      name: 'an API key with the same user each time',
      facts: { ...SUPPORT_TOOL, user: { value: 'agent-7', count: 400 } },
      summary: /All 400 were made with the API key "Support tool" \(the caller states the user agent-7\)\.$/,
      firstStep: /replace the key "Support tool"/,
    },
    {
      name: 'an API key with another user for some actions',
      facts: { ...SUPPORT_TOOL, user: { value: 'agent-7', count: 300 } },
      summary: /All 400 were made with the API key "Support tool"\.$/,
      firstStep: /replace the key "Support tool"/,
    },
    {
      name: 'the API alone',
      facts: { channel: { value: 'api' as const, count: 200 } },
      summary: /200 of 400 were made by an API key or a dashboard user\.$/,
      firstStep:
        /open Developers > Workbench > Logs \(in older accounts Developers > Logs\) and look for the request at 2026-11-21 09:59:52 UTC/,
    },
    {
      name: 'automatic actions',
      facts: { channel: { value: 'automatic' as const, count: 400 } },
      summary: /All 400 were made automatically by the provider itself\.$/,
      firstStep: /^Open the payment with the largest amount/,
    },
  ])('names maker and first step for an origin of which $name is known', ({ facts, summary, firstStep }) => {
    const description = describeAlert(stormAlert({ provider: 'processor', ...common(facts) }), SAMPLE_READER)
    expect(description.summary).toMatch(summary)
    expect(description.next.steps[0]).toMatch(firstStep)
  })

  test('in test mode says so first, and that there is no hurry', () => {
    const { title, next } = describeAlert(stormAlert({ mode: 'test' }), SAMPLE_READER)
    expect(title).toMatch(/^\[Test mode\] /)
    expect(next.sentence).toBe('No real money moved, so there is no hurry.')
  })

  test('names kinds, a shared customer and a shared payment', () => {
    const kinds = [
      { kind: 'refund' as const, count: 300 },
      { kind: 'cancellation' as const, count: 100 },
    ]
    const customer = (name: string | null) => ({ value: { id: 'cus_1', name, email: null }, count: 390 })
    const subject = { value: 'pi_1', count: 400 }
    expect(factsOf({ kinds, ...common({ customer: customer('Jane Doe'), subject }) })).toMatchObject({
      What: '300 refunds, 100 cancellations',
      Customers: 'Jane Doe (390 of 400)',
      'In common': 'The payment pi_1 (all 400)',
    })
    expect(factsOf(common({ customer: customer(null) }))).toMatchObject({ Customers: 'cus_1 (390 of 400)' })
    expect(factsOf({ customers: 0 })).toMatchObject({ Customers: 'The provider does not say' })
  })

  test('says that there may be more customers than the report can count', () => {
    expect(factsOf({ customers: 10_000 })).toMatchObject({ Customers: 'At least 10,000' })
    expect(factsOf({ customers: 9_999 })).toMatchObject({ Customers: '9,999' })
  })

  test('cannot mention a person', () => {
    const value = '<!channel>\u202e'
    const shared = { value, count: 400 }
    const facts = common({ key_name: shared, user: shared, subject: shared, refund_reason: shared })
    const message = JSON.stringify(slackMessage(stormAlert({ ...facts, state: 'ended' }), settingWith()))
    expect(message).not.toContain('\u202e')
    expect(message).not.toMatch(/"mrkdwn","text":"[^"]*<!channel>/)
  })
})
