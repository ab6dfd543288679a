import { describe, expect, test } from 'vitest'
import { type ConnectionAttempt, judgeAttempts } from './judge-attempts.ts'

const metadata = { host: '169.254.169.254', port: 80 }
const pod = { host: 'backstop-network-policy-check', port: 9090 }
const blocked: ConnectionAttempt = { target: metadata, outcome: 'blocked', detail: 'ETIMEDOUT' }
const unresolved: ConnectionAttempt = { target: pod, outcome: 'unresolved', detail: 'ENOTFOUND' }
const reached: ConnectionAttempt = { target: pod, outcome: 'reached', detail: '10.0.0.7' }

describe('the network policies', () => {
  test.each([
    { name: 'are enforced when nothing is reached', attempts: [blocked], forMs: 0, state: 'enforced' },
    {
      name: 'are not proven while DNS does not know a name',
      attempts: [blocked, unresolved],
      forMs: 0,
      state: 'waiting',
    },
    {
      name: 'have a grace period after the pod started',
      attempts: [blocked, reached],
      forMs: 59_999,
      state: 'grace_period',
    },
    {
      name: 'are not enforced when a target stays reachable',
      attempts: [blocked, reached],
      forMs: 60_000,
      state: 'not_enforced',
    },
    {
      name: 'are not enforced when a target stays reachable, whatever DNS does not know',
      attempts: [unresolved, reached],
      forMs: 60_000,
      state: 'not_enforced',
    },
  ] as const)('$name', ({ attempts, forMs, state }) => {
    expect(judgeAttempts(attempts, forMs, 60_000).state).toBe(state)
  })

  test('names the reached target and the remedy when the policies are not enforced', () => {
    const { reason } = judgeAttempts([blocked, reached], 60_000, 60_000)
    expect(reason).toContain('not enforced: reached backstop-network-policy-check:9090 (10.0.0.7)')
    expect(reason).not.toContain('169.254')
    expect(reason).toContain("Turn on enforcement in the cluster's network plug-in")
    expect(reason).toContain('delete this job and apply again')
  })

  test('names every blocked target, IPv6 in brackets, when the policies are enforced', () => {
    const six: ConnectionAttempt = {
      target: { host: 'fd00:ec2::254', port: 80 },
      outcome: 'blocked',
      detail: 'ENETUNREACH',
    }
    expect(judgeAttempts([blocked, six], 0, 60_000).reason).toBe(
      'the network policies are enforced: could not reach 169.254.169.254:80 (ETIMEDOUT), [fd00:ec2::254]:80 (ENETUNREACH)',
    )
  })
})
