import type { Alert } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { sampleRefundedTwice } from '../../test/samples.ts'
import { describeAlert } from './describe-alert.ts'
import { SAMPLE_READER } from './sample-alerts.ts'

describe('a refund that software made twice', () => {
  test('names the software as its maker, and both operations', () => {
    const { facts } = describeAlert(sampleRefundedTwice(), SAMPLE_READER)
    expect(facts).toContainEqual({ label: 'How', value: 'By your software, which reported it' })
    expect(facts).toContainEqual({ label: 'Operations', value: 'op_3v8qk2x9m1s7d5f0 and op_7c1m4x9p2k6t8w3z' })
  })

  test('is described by the money, by both refunds, and what to do', () => {
    const described = describeAlert(sampleRefundedTwice(), SAMPLE_READER)
    expect(described).toMatchObject({
      title: 'Refunded twice: refund of EUR 1,249.90 · Jana Novak · Shop Germany',
      summary: 'Your software refunded the same payment twice, first at 09:58 UTC.',
      tone: 'alarm',
      path: '/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b',
      providerUrl: 'https://dashboard.stripe.com/payments/pi_3QK5vLAbCdEfGhIj0aBcDeFg',
    })
    expect(described.next.sentence).toMatch(/^Find out whether both are meant\./)
    expect(described.next.steps).toEqual([
      expect.stringMatching(/^If both are meant, for example for two returned items: .* switch the rule off/),
      expect.stringMatching(/^If not, look up both operations/),
      expect.stringMatching(/^Some card refunds can still be cancelled/),
    ])
  })

  test('of test money is marked, and has no hurry', () => {
    expect(describeAlert(sampleRefundedTwice({ mode: 'test' }), SAMPLE_READER)).toMatchObject({
      title: '[Test mode] Refunded twice: refund of EUR 1,249.90 · Jana Novak · Shop Germany',
      next: { sentence: 'No real money moved, so there is no hurry.' },
    })
  })

  test.each([
    {
      by: 'itself',
      end: { resolution: 'No money moved by re_2: the provider shows it as failed' },
      title: 'Resolved: the refund of EUR 1,249.90 no longer counts as a second refund',
      summary: /^No money moved by re_2: the provider shows it as failed\.$/,
    },
    {
      by: 'a person',
      end: {
        resolution: 'Resolved by Ann: it was our own change',
        reason: 'our_own_change',
        resolved_by: 'Ann',
      } as const,
      title: 'Resolved: refunded twice: refund of EUR 1,249.90',
      summary: /^Ann resolved the incident.*: it was our own change\.$/,
    },
  ])('and ended by $by says how it ended', ({ end, title, summary }) => {
    const { data, ...alert } = sampleRefundedTwice({}, { state: 'resolved', ...end }) as Extract<
      Alert,
      { event: 'incident.opened' }
    >
    const described = describeAlert({ ...alert, event: 'incident.resolved', data }, SAMPLE_READER)
    expect(described.title).toBe(`${title} · Jana Novak · Shop Germany`)
    expect(described.summary).toMatch(summary)
  })
})
