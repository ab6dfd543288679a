import { action, alert, PROJECT, sampleBurst } from '@backstop/channels/test'
import { type Alert, NOTHING_IN_COMMON, type Origin } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { SAMPLE_ALERTS } from './index.ts'
import { withoutCustomer, withoutPersonalData } from './personal-data.ts'

const CUSTOMER = { id: 'ann@canary.example', name: 'Canary Customer', email: 'ann@canary.example' }
const CLERK = 'clerk@acme.example'
const KEY = 'key of ops@acme.example'

function madeOn(channel: Origin['channel']): Alert {
  const opened = alert()
  if (opened.event !== 'incident.opened') throw new Error('The alert is of another event')
  const made = action({
    project_id: PROJECT,
    provider: 'reseller',
    customer: CUSTOMER,
    origin: { channel, key_name: KEY, user: CLERK, request_id: null, idempotency_key: CUSTOMER.email },
    payment: { number: null, plan: null, refund_reason: 'asked by Canary Customer', destination: null },
    links: { provider: 'https://provider.example/ann%40canary.example', console: null },
  })
  const incident = { ...opened.data.incident, summary: 'A refund of ann@canary.example is unexpected' }
  return { ...opened, data: { ...opened.data, incident, action: { ...made, actor_name: 'Clerk Jones' } } }
}

describe('an alert about an erased customer', () => {
  test.each(['dashboard', 'api', null] as const)('keeps who of the team made the action (channel %s)', channel => {
    const erased = withoutCustomer(madeOn(channel))
    expect(JSON.stringify(erased)).not.toMatch(/canary/i)
    expect(erased).toMatchObject({
      data: {
        action: {
          actor_name: 'Clerk Jones',
          customer: { name: null, email: null },
          origin: { channel, user: CLERK, key_name: KEY },
        },
      },
    })
    expect(withoutCustomer(erased)).toBe(erased)
  })

  test('does not keep the user of a hosted page, who is the customer', () => {
    const erased = withoutCustomer(madeOn('hosted_page'))
    expect(JSON.stringify(erased)).not.toMatch(/canary|@/i)
    expect(erased).toMatchObject({ data: { action: { actor_name: 'Clerk Jones', origin: { user: null } } } })
    expect(withoutCustomer(erased)).toBe(erased)
  })

  test('loses the people of the team, too, where its channel must not show personal data', () => {
    expect(JSON.stringify(withoutPersonalData(withoutCustomer(madeOn('dashboard'))))).not.toMatch(/canary|@|Jones/i)
  })
})

describe.each(['burst', 'storm'] as const)('a report of a %s that names an erased customer', kind => {
  const reportOf = (channel: Origin['channel'] & string): Alert => {
    const common = {
      ...NOTHING_IN_COMMON,
      channel: { value: channel, count: 12 },
      actor: { value: 'acr_1', kind: 'dashboard_user' as const, name: 'Clerk Jones', count: 12 },
      user: { value: CLERK, count: 12 },
      key_name: { value: KEY, count: 12 },
      customer: { value: CUSTOMER, count: 12 },
      refund_reason: { value: 'asked by Canary Customer', count: 12 },
    }
    if (kind === 'burst') return sampleBurst({ provider: 'reseller', common })
    const sample = SAMPLE_ALERTS['storm.reported'](PROJECT)
    if (sample.event !== 'storm.reported') throw new Error('The sample is of another event')
    return { ...sample, data: { ...sample.data, storm: { ...sample.data.storm, provider: 'reseller', common } } }
  }

  test('keeps who of the team made the actions', () => {
    const erased = withoutCustomer(reportOf('dashboard'))
    const text = JSON.stringify(erased)
    expect(text).not.toMatch(/canary/i)
    for (const kept of [CLERK, KEY, 'Clerk Jones']) expect(text).toContain(kept)
    expect(withoutCustomer(erased)).toBe(erased)
  })

  test('does not keep the user of a hosted page', () => {
    expect(JSON.stringify(withoutCustomer(reportOf('hosted_page')))).not.toMatch(/canary|@acme/i)
  })
})
