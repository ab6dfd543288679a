import { expect, test } from 'vitest'
import { type HeartbeatFacts, type HeartbeatVerdict, judgeHeartbeat } from './judge-heartbeat.ts'

const AFTER = 300
const NOW = 10_000

test.each<{ name: string; facts: HeartbeatFacts; wanted: HeartbeatVerdict }>([
  {
    name: 'a heartbeat that came back in time',
    facts: { returnedAtMs: NOW - AFTER + 1, watchedSinceMs: 0, reportedAtMs: null },
    wanted: { kind: 'quiet', reason: 'in_time' },
  },
  {
    name: 'none for the whole wait',
    facts: { returnedAtMs: NOW - AFTER, watchedSinceMs: 0, reportedAtMs: null },
    wanted: { kind: 'missing', silentMs: AFTER },
  },
  {
    name: 'none since the start, within the wait',
    facts: { returnedAtMs: null, watchedSinceMs: NOW - AFTER + 1, reportedAtMs: null },
    wanted: { kind: 'quiet', reason: 'in_time' },
  },
  {
    name: 'none since the start',
    facts: { returnedAtMs: null, watchedSinceMs: NOW - AFTER - 5, reportedAtMs: null },
    wanted: { kind: 'missing', silentMs: AFTER + 5 },
  },
  {
    name: 'an installation that was stopped for long and has just started',
    facts: { returnedAtMs: 1, watchedSinceMs: NOW - 10, reportedAtMs: null },
    wanted: { kind: 'quiet', reason: 'in_time' },
  },
  {
    name: 'an absence that was reported',
    facts: { returnedAtMs: NOW - 400, watchedSinceMs: 0, reportedAtMs: NOW - 100 },
    wanted: { kind: 'quiet', reason: 'already_reported' },
  },
  {
    name: 'a heartbeat after the report',
    facts: { returnedAtMs: NOW - 10, watchedSinceMs: 0, reportedAtMs: NOW - 100 },
    wanted: { kind: 'returned' },
  },
])('$name: $wanted.kind', ({ facts, wanted }) => {
  expect(judgeHeartbeat(facts, NOW, AFTER)).toEqual(wanted)
})
