import { describe, expect, test } from 'vitest'
import { judgeWall, type Knock } from './judge-wall.ts'

const metadata = { host: '169.254.169.254', port: 80 }
const pod = { host: 'backstop-wall-check', port: 9090 }
const blocked: Knock = { target: metadata, outcome: 'blocked', detail: 'ETIMEDOUT' }
const absent: Knock = { target: pod, outcome: 'absent', detail: 'ENOTFOUND' }
const reached: Knock = { target: pod, outcome: 'reached', detail: '10.0.0.7' }

describe('the network policies', () => {
  test.each([
    { name: 'stand when nothing is reached', knocks: [blocked], forMs: 0, state: 'stands' },
    { name: 'are not proved while a name is unknown', knocks: [blocked, absent], forMs: 0, state: 'waiting' },
    { name: 'may need a moment for a new pod', knocks: [blocked, reached], forMs: 59_999, state: 'open' },
    { name: 'are breached when that lasts', knocks: [blocked, reached], forMs: 60_000, state: 'breached' },
    { name: 'are breached whatever is still unknown', knocks: [absent, reached], forMs: 60_000, state: 'breached' },
  ] as const)('$name', ({ knocks, forMs, state }) => {
    expect(judgeWall(knocks, forMs, 60_000).state).toBe(state)
  })

  test('that are breached are told of with what was reached and what to do', () => {
    const { reason } = judgeWall([blocked, reached], 60_000, 60_000)
    expect(reason).toContain('not enforced: reached backstop-wall-check:9090 (10.0.0.7)')
    expect(reason).not.toContain('169.254')
    expect(reason).toContain("Turn on enforcement in the cluster's network plug-in")
    expect(reason).toContain('delete this job and apply again')
  })

  test('that stand are told of with everything that was tried, IPv6 in brackets', () => {
    const six: Knock = { target: { host: 'fd00:ec2::254', port: 80 }, outcome: 'blocked', detail: 'ENETUNREACH' }
    expect(judgeWall([blocked, six], 0, 60_000).reason).toBe(
      'the network policies are enforced: could not reach 169.254.169.254:80 (ETIMEDOUT), [fd00:ec2::254]:80 (ENETUNREACH)',
    )
  })
})
