import { expect, test } from 'vitest'
import { sweepRunOf } from './sweep-day.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')
const MINUTE = 60_000
const ago = (minutes: number) => new Date(NOW - minutes * MINUTE)
const MADE = ago(10_000)
const SWEEP = { _id: 'con_1', project_id: 'prj_1', last_error: null }
const COMPLETE = { objects: 3, readUntilMs: NOW - 1_000 }
const FAILED = 'The provider refused the key'

test('a sweep before the first complete one that this version knows is not recorded', () => {
  expect(sweepRunOf(SWEEP, { objects: 3, readUntilMs: null }, MADE, NOW, 5 * MINUTE)).toBeNull()
})

test.each([
  { name: 'shortly after the last complete sweep', completedAt: ago(14), interruption: null },
  { name: 'after a long time', completedAt: ago(15), interruption: { from: ago(15), to: ago(0), cause: null } },
  {
    name: 'after failures',
    completedAt: ago(90),
    lastError: FAILED,
    interruption: { from: ago(90), to: ago(0), cause: FAILED },
  },
  { name: 'after less than three long intervals', completedAt: ago(90), everyMs: 31 * MINUTE, interruption: null },
  {
    name: 'as the first one of a connection that was created long ago',
    completedAt: null,
    interruption: { from: MADE, to: ago(0), cause: null },
  },
  { name: 'as the first one that this version records', completedAt: undefined, interruption: null },
  {
    name: 'that did not reach the present',
    completedAt: ago(90),
    run: { objects: 3, readUntilMs: null },
    interruption: null,
  },
])('a sweep $name is recorded with its interruption, if there was one', ({ completedAt, interruption, ...given }) => {
  const { lastError = null, everyMs = 5 * MINUTE, run = COMPLETE } = given
  const sweep = { ...SWEEP, last_error: lastError, ...(completedAt !== undefined && { completed_at: completedAt }) }
  const recordedFrom = completedAt === undefined ? ago(0) : (completedAt ?? MADE)
  expect(sweepRunOf(sweep, run, MADE, NOW, everyMs)).toEqual({
    ...{ connectionId: 'con_1', projectId: 'prj_1', objects: 3, endedAt: ago(0), recordedFrom, interruption },
    readUntil: run.readUntilMs === null ? null : new Date(run.readUntilMs),
  })
})
