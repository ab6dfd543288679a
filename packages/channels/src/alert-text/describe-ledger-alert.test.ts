import type { Alert } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { describeAlert } from './describe-alert.ts'
import { SAMPLE_ALERTS, SAMPLE_READER } from './sample-alerts.ts'

type Of<E extends Alert['event']> = Extract<Alert, { event: E }>
const sample = <E extends keyof typeof SAMPLE_ALERTS & Alert['event']>(event: E) => SAMPLE_ALERTS[event]() as Of<E>
const factOf = (alert: Alert, label: string) =>
  describeAlert(alert, SAMPLE_READER).facts.find(fact => fact.label === label)?.value

describe('an approval', () => {
  test('that is requested says what is wanted, on which account, until when and where to decide', () => {
    const described = describeAlert(sample('approval.requested'), SAMPLE_READER)
    expect(described).toMatchObject({
      title: 'Approval needed: refund of EUR 1,249.90 · Shop Germany',
      summary: 'Your software wants to make a refund of EUR 1,249.90 and waits for a person to approve it.',
      next: {
        sentence: 'Approve or decline it by 2026-11-22 10:00:00 UTC. Without a decision, it is not made.',
        steps: [expect.stringMatching(/customer should get this refund/), expect.stringMatching(/in the console/)],
      },
      tone: 'neutral',
      path: '/p/prj_sample/operations/op_3v8qk2x9m1s7d5f0',
      reference: 'op_3v8qk2x9m1s7d5f0',
    })
    expect(described.facts.map(fact => fact.label)).toEqual(['Payment', 'Asked for at', 'Run of your software'])
  })

  test('has the reason of the software, cut to fit into a message', () => {
    const { data, ...alert } = sample('approval.requested')
    const withReason = (reason: string) => ({ ...alert, data: { ...data, operation: { ...data.operation, reason } } })
    expect(factOf(withReason('Late parcel'), 'Reason')).toBe('Late parcel')
    expect(factOf(withReason('Late parcel '.repeat(80)), 'Reason')).toMatch(/^Late parcel .{20,40}…$/)
  })

  test('without a decision is reminded of, then reported as expired', () => {
    expect(describeAlert(sample('approval.reminder'), SAMPLE_READER).title).toBe(
      'Still waiting for approval: refund of EUR 1,249.90 · Shop Germany',
    )
    const expired = describeAlert(sample('approval.expired'), SAMPLE_READER)
    expect(expired).toMatchObject({ title: 'Approval expired: refund of EUR 1,249.90 · Shop Germany', tone: 'alarm' })
    expect(expired.summary).toMatch(/It is not made, and the customer may still be waiting for it/)
  })

  test('of a cancellation shows no amount', () => {
    const alert = sample('approval.requested')
    const operation = { ...alert.data.operation, kind: 'cancellation', amount: null, currency: null } as const
    const described = describeAlert({ ...alert, data: { ...alert.data, operation } }, SAMPLE_READER)
    expect(described.title).toBe('Approval needed: cancellation · Shop Germany')
    expect(described.facts.map(fact => fact.label)).toContain('Subscription')
  })
})

describe('a budget', () => {
  const cap = (more: Partial<Of<'cap.threshold'>['data']['current']>, percent: number, currency = 'eur'): Alert => {
    const alert = sample('cap.threshold')
    const { budget, current } = alert.data
    const left = Math.max(0, budget.cap - (more.used ?? 0) - (more.reserved ?? 0))
    return {
      ...alert,
      data: { ...alert.data, percent, budget: { ...budget, currency }, current: { ...current, left, ...more } },
    }
  }
  const rows = [
    {
      name: 'that has money left',
      alert: cap({ used: 700_000, reserved: 124_990 }, 80),
      title: '80 % of the budget "Refunds a day" is used',
      summary: /EUR 8,249.90 of EUR 10,000.00 a day.*EUR 1,750.10 are left until 2026-11-22 00:00:00 UTC/,
      tone: 'neutral',
    },
    {
      name: 'that is used up',
      alert: cap({ used: 1_000_000, reserved: 0 }, 100),
      title: 'The budget "Refunds a day" is used up',
      summary: /Until 2026-11-22 00:00:00 UTC every further refund is refused/,
      tone: 'alarm',
    },
    {
      name: 'that is overspent',
      alert: cap({ used: 1_000_000, reserved: 5_000 }, 100),
      title: 'The budget "Refunds a day" is overspent by EUR 50.00',
      summary: /EUR 10,050.00 of EUR 10,000.00 a day are spent or reserved/,
      tone: 'alarm',
    },
    {
      name: 'in a currency without minor units',
      alert: cap({ used: 700_000, reserved: 124_990 }, 80, 'jpy'),
      title: '80 % of the budget "Refunds a day" is used',
      summary: /JPY 824,990 of JPY 1,000,000/,
      tone: 'neutral',
    },
  ]
  test.each(rows)('$name is described by what is left and what to do', ({ alert, title, summary, tone }) => {
    const described = describeAlert(alert, SAMPLE_READER)
    expect(described).toMatchObject({ title, tone, summary: expect.stringMatching(summary) })
    expect(described.next.steps.join(' ')).toMatch(/If they are not right: .* If they are right: /)
  })

  test('of one connection names it', () => {
    const alert = sample('cap.threshold')
    expect(factOf(alert, 'Covers')).toBe('The whole project "Acme Games"')
    const budget = { ...alert.data.budget, connection_id: 'con_1' }
    expect(factOf({ ...alert, data: { ...alert.data, budget } }, 'Covers')).toBe('Shop Germany')
    const { names: _unknown, ...data } = alert.data
    expect(factOf({ ...alert, data: { ...data, budget } }, 'Covers')).toBe('con_1')
  })
})

describe('a failed run', () => {
  test('names the operations that have not ended', () => {
    const described = describeAlert(sample('run.failed'), SAMPLE_READER)
    expect(described).toMatchObject({ title: 'Run nightly-refunds-2026-11-21 failed', tone: 'alarm' })
    expect(described.summary).toMatch(
      /^Your software gave the reason "The agent stopped after three timeouts"\. It had begun 12 refunds or cancellations; at least 1 of them is not finished\.$/,
    )
    expect(described.facts).toContainEqual({
      label: 'Not finished',
      value: 'Refund of EUR 1,249.90 for payment pi_3QK5vLAbCdEfGhIj0aBcDeFg: sent to the provider, result unknown',
    })
  })

  test('without operations and without a reason says so, and its name cannot break the headline', () => {
    const alert = sample('run.failed')
    const run = { ...alert.data.run, run_id: 'a\r\nb', reason: null }
    const described = describeAlert({ ...alert, data: { run, operations: [], operations_total: 0 } }, SAMPLE_READER)
    expect(described).toMatchObject({
      title: 'Run a b failed',
      summary: 'Your software gave no reason. It had not begun any refund or cancellation.',
      path: '/p/prj_sample/runs/a%0D%0Ab',
    })
  })

  test('names two of many, and says that there are more', () => {
    const alert = sample('run.failed')
    const operations = Array.from({ length: 8 }, () => alert.data.operations[0]!)
    const described = describeAlert(
      { ...alert, data: { ...alert.data, operations, operations_total: 8 } },
      SAMPLE_READER,
    )
    expect(described.facts.filter(fact => fact.label === 'Not finished')).toHaveLength(2)
    expect(described.facts.at(-1)).toEqual({ label: 'And more', value: '6 not finished' })
  })
})
