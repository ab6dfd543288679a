import { describe, expect, test } from 'vitest'
import { confirmedAtMs, decideStormStep, newlyDone } from './report-schedule.ts'

const SETTINGS = { from: 10, windowMs: 300_000, quietMs: 300_000 }
const MINUTE = 60_000

/** Runs a storm that members join until `lastMemberMs`. @returns the times of its reports in minutes, and its end */
function reportTimes(lastMemberMs: number) {
  const storm = {
    state: 'open' as const,
    began_at: new Date(0),
    last_member_at: new Date(0),
    version: 1,
    reported_at: null as Date | null,
    reported_version: 0,
    acknowledgements: 0,
    seen_acknowledgements: 0,
  }
  const reports: number[] = []
  for (let nowMs = 0; ; nowMs += 1_000) {
    if (nowMs <= lastMemberMs) {
      storm.last_member_at = new Date(nowMs)
      storm.version++
    }
    const step = decideStormStep(storm, nowMs, SETTINGS)
    if (step.kind === 'end') return { reports, end: nowMs / MINUTE }
    if (step.kind === 'wait') continue
    reports.push(nowMs / MINUTE)
    storm.reported_at = new Date(nowMs)
    storm.reported_version = storm.version
  }
}

test('a storm is reported at once, after 1, 5 and 15 minutes, every hour after that, and at its end', () => {
  expect(reportTimes(10 * MINUTE)).toEqual({ reports: [0, 1, 5], end: 15 })
  expect(reportTimes(16 * MINUTE)).toEqual({ reports: [0, 1, 5, 15], end: 21 })
  expect(reportTimes(140 * MINUTE)).toEqual({ reports: [0, 1, 5, 15, 75, 135], end: 145 })
})

test('a report without a new action is left out', () => {
  expect(reportTimes(4_000)).toEqual({ reports: [0, 1], end: 5 + 4 / 60 })
  expect(reportTimes(0)).toEqual({ reports: [0], end: 5 })
})

test('a late look sends one report for all that were due', () => {
  const storm = {
    state: 'open' as const,
    began_at: new Date(0),
    last_member_at: new Date(20 * MINUTE),
    version: 9,
    reported_at: new Date(0),
    reported_version: 1,
    acknowledgements: 0,
    seen_acknowledgements: 0,
  }
  expect(decideStormStep(storm, 20 * MINUTE, SETTINGS)).toEqual({
    kind: 'report',
    reason: 'report_is_due',
    untilMs: 25 * MINUTE,
    nextReportAtMs: 75 * MINUTE,
  })
  expect(decideStormStep({ ...storm, reported_at: new Date(20 * MINUTE) }, 21 * MINUTE, SETTINGS)).toEqual({
    kind: 'wait',
    reason: 'not_due',
    untilMs: 25 * MINUTE,
  })
})

test('acknowledged incidents are looked at once, unless a report with new actions is due', () => {
  const storm = {
    state: 'open' as const,
    began_at: new Date(0),
    last_member_at: new Date(2 * MINUTE),
    version: 9,
    reported_at: new Date(MINUTE),
    reported_version: 9,
    acknowledgements: 1,
    seen_acknowledgements: 0,
  }
  const check = { kind: 'check_acknowledged', untilMs: 5 * MINUTE, nextReportAtMs: 5 * MINUTE }
  expect(decideStormStep(storm, 2 * MINUTE, SETTINGS)).toMatchObject(check)
  expect(decideStormStep({ ...storm, version: 10 }, 2 * MINUTE, SETTINGS)).toMatchObject(check)
  expect(decideStormStep({ ...storm, version: 10 }, 5 * MINUTE, SETTINGS)).toMatchObject({ kind: 'report' })
  expect(decideStormStep({ ...storm, seen_acknowledgements: 1 }, 2 * MINUTE, SETTINGS)).toMatchObject({ kind: 'wait' })
  expect(decideStormStep(storm, 7 * MINUTE, SETTINGS)).toMatchObject({ kind: 'end' })
})

test.each([
  { name: 'an open incident is not acknowledged', now: [10, 4, 1], reported: [0, 10], done: null },
  { name: 'every open incident is acknowledged', now: [10, 4, 0], reported: [0, 10], done: 'acknowledged' },
  { name: 'a report says so already', now: [10, 4, 0], reported: [0, 0], done: null },
  { name: 'every incident is resolved', now: [10, 10, 0], reported: [4, 0], done: 'resolved' },
  { name: 'a report says that every incident is resolved', now: [10, 10, 0], reported: [10, 0], done: null },
])('what people did with a storm is reported once: $name', ({ now, reported, done }) => {
  const [count = 0, resolved = 0, unacknowledged = 0] = now
  const [reported_resolved = 0, reported_unacknowledged = 0] = reported
  expect(newlyDone({ reported_resolved, reported_unacknowledged }, { count, resolved, unacknowledged })).toBe(done)
})

describe('a storm that a burst began', () => {
  const looksAtMs = MINUTE
  const storm = {
    state: 'open' as const,
    began_at: new Date(0),
    last_member_at: new Date(0),
    reports_from: new Date(confirmedAtMs(looksAtMs)),
    version: 0,
    reported_at: null as Date | null,
    reported_version: 0,
    acknowledgements: 0,
    seen_acknowledgements: 0,
  }
  const joined = { ...storm, version: 1, last_member_at: new Date(looksAtMs) }
  const fromMs = storm.reports_from.getTime()

  test('is first reported ten seconds after the first second look, and then as every storm', () => {
    expect(fromMs).toBe(looksAtMs + 10_000)
    expect(decideStormStep(joined, fromMs - 1, SETTINGS)).toMatchObject({ kind: 'wait', untilMs: fromMs })
    expect(decideStormStep(joined, fromMs, SETTINGS)).toMatchObject({ kind: 'report', nextReportAtMs: fromMs + MINUTE })
    const reported = { ...joined, reported_at: new Date(fromMs + 2_000), reported_version: 1, version: 2 }
    expect(decideStormStep(reported, fromMs + 3_000, SETTINGS)).toMatchObject({
      kind: 'wait',
      untilMs: fromMs + MINUTE,
    })
    expect(decideStormStep(reported, fromMs + MINUTE, SETTINGS)).toMatchObject({ kind: 'report' })
  })

  test('is looked at every five seconds while no action joined it, and ends after the quiet time', () => {
    expect(decideStormStep(storm, 0, SETTINGS)).toMatchObject({ kind: 'wait', untilMs: fromMs })
    expect(decideStormStep(storm, fromMs, SETTINGS)).toMatchObject({ kind: 'wait', untilMs: fromMs + 5_000 })
    const endMs = fromMs + SETTINGS.quietMs
    expect(decideStormStep(storm, endMs - 1, SETTINGS)).toMatchObject({ kind: 'wait', untilMs: endMs })
    expect(decideStormStep(storm, endMs, SETTINGS)).toMatchObject({ kind: 'end' })
  })
})
