import { expect, test } from 'vitest'
import { decideRestart, type Exit, type RestartDecision } from './restart-policy.ts'

const NOW_MS = 1_000_000
const exitsAt = (...agesMs: number[]): Exit[] =>
  agesMs.map(age => ({ atMs: NOW_MS - age, code: null, signal: 'SIGKILL' }))

test.each<{ name: string; exits: Exit[]; decision: RestartDecision }>([
  {
    name: 'restarts soon after the first exit',
    exits: exitsAt(0),
    decision: { kind: 'restart', delayMs: 250, reason: 'was ended by SIGKILL' },
  },
  {
    name: 'doubles the delay with each further exit within two minutes',
    exits: exitsAt(20_000, 10_000, 0),
    decision: { kind: 'restart', delayMs: 1_000, reason: 'was ended by SIGKILL' },
  },
  {
    name: 'does not restart after the sixth exit within two minutes',
    exits: exitsAt(50_000, 40_000, 30_000, 20_000, 10_000, 0),
    decision: {
      kind: 'stay_down',
      reason: 'it ended 6 times within 2 minutes',
      remedy: 'Look into its log, then start again',
    },
  },
  {
    name: 'does not count exits older than two minutes',
    exits: exitsAt(900_000, 800_000, 700_000, 600_000, 500_000, 400_000, 0),
    decision: { kind: 'restart', delayMs: 250, reason: 'was ended by SIGKILL' },
  },
  {
    name: 'does not restart when the settings are invalid',
    exits: [{ atMs: NOW_MS, code: 78, signal: null }],
    decision: { kind: 'stay_down', reason: 'its settings are invalid', remedy: 'Correct them, then start again' },
  },
  {
    name: 'tries again when another process uses the port, however often',
    exits: exitsAt(50_000, 40_000, 30_000, 20_000, 10_000, 5_000, 0).map(exit => ({ ...exit, portInUse: 8080 })),
    decision: { kind: 'restart', delayMs: 5_000, reason: 'port 8080 is in use by another process' },
  },
  {
    name: 'does not count the exits because of a port',
    exits: [
      ...exitsAt(50_000, 40_000, 30_000, 20_000, 10_000).map(exit => ({ ...exit, portInUse: 8080 })),
      ...exitsAt(0),
    ],
    decision: { kind: 'restart', delayMs: 250, reason: 'was ended by SIGKILL' },
  },
])('$name', ({ exits, decision }) => {
  expect(decideRestart(exits, NOW_MS)).toEqual(decision)
})
