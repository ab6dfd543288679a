import { expect, test } from 'vitest'
import { decideRestart, type Exit, type RestartDecision } from './restart-policy.ts'

const NOW_MS = 1_000_000
const exitsAt = (...agesMs: number[]): Exit[] =>
  agesMs.map(age => ({ atMs: NOW_MS - age, code: null, signal: 'SIGKILL' }))

test.each<{ name: string; exits: Exit[]; decision: RestartDecision }>([
  {
    name: 'the first death is followed by a quick restart',
    exits: exitsAt(0),
    decision: { kind: 'restart', delayMs: 250, reason: 'was ended by SIGKILL' },
  },
  {
    name: 'each further death within two minutes doubles the wait',
    exits: exitsAt(20_000, 10_000, 0),
    decision: { kind: 'restart', delayMs: 1_000, reason: 'was ended by SIGKILL' },
  },
  {
    name: 'the sixth death within two minutes is one too many',
    exits: exitsAt(50_000, 40_000, 30_000, 20_000, 10_000, 0),
    decision: { kind: 'give_up', reason: 'died_too_often' },
  },
  {
    name: 'deaths of long ago do not count',
    exits: exitsAt(900_000, 800_000, 700_000, 600_000, 500_000, 400_000, 0),
    decision: { kind: 'restart', delayMs: 250, reason: 'was ended by SIGKILL' },
  },
  {
    name: 'a configuration fault is not mended by a restart',
    exits: [{ atMs: NOW_MS, code: 78, signal: null }],
    decision: { kind: 'give_up', reason: 'configuration_fault' },
  },
])('$name', ({ exits, decision }) => {
  expect(decideRestart(exits, NOW_MS)).toEqual(decision)
})
