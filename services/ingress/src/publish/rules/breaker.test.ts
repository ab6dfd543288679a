import { describe, expect, test } from 'vitest'
import { admitSend, breakerAfterFailure, breakerAfterSuccess, CLOSED_BREAKER } from './breaker.ts'

const PROBE_MS = 500

describe('the breaker before the broker', () => {
  test('admits every message while sends succeed', () => {
    expect(admitSend(CLOSED_BREAKER, 1_000, PROBE_MS)).toMatchObject({ kind: 'admitted', reason: 'broker_answers' })
    expect(admitSend(breakerAfterSuccess(1_000), 99_000, PROBE_MS)).toMatchObject({ kind: 'admitted' })
  })

  test('refuses at once after a failure, except for one probe per interval', () => {
    const open = breakerAfterFailure(breakerAfterSuccess(1_000), 2_000, 4_500, PROBE_MS)
    expect(admitSend(open, 4_999, PROBE_MS)).toEqual({ kind: 'refused', reason: 'broker_unavailable' })
    const probe = admitSend(open, 5_000, PROBE_MS)
    expect(probe).toMatchObject({ kind: 'admitted', reason: 'probe' })
    if (probe.kind !== 'admitted') return
    expect(admitSend(probe.state, 5_001, PROBE_MS)).toEqual({ kind: 'refused', reason: 'broker_unavailable' })
    expect(admitSend(probe.state, 5_500, PROBE_MS)).toMatchObject({ kind: 'admitted', reason: 'probe' })
  })

  test('closes with the first success', () => {
    const open = breakerAfterFailure(CLOSED_BREAKER, 2_000, 4_500, PROBE_MS)
    expect(admitSend(open, 4_501, PROBE_MS).kind).toBe('refused')
    expect(admitSend(breakerAfterSuccess(4_502), 4_503, PROBE_MS)).toMatchObject({ reason: 'broker_answers' })
  })

  test('stays closed when another send succeeded since the failed one began', () => {
    const state = breakerAfterFailure(breakerAfterSuccess(3_000), 2_000, 4_500, PROBE_MS)
    expect(admitSend(state, 4_501, PROBE_MS)).toMatchObject({ reason: 'broker_answers' })
  })

  test('probes also after further failures', () => {
    let state = breakerAfterFailure(CLOSED_BREAKER, 1, 1_000, PROBE_MS)
    for (let now = 1_001; now < 1_400; now += 1) state = breakerAfterFailure(state, 1, now, PROBE_MS)
    expect(admitSend(state, 1_500, PROBE_MS)).toMatchObject({ reason: 'probe' })
  })
})
