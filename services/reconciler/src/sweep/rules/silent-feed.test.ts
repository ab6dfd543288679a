import { describe, expect, test } from 'vitest'
import { describeMissing, judgeFeed, LATE_AFTER_MS } from './silent-feed.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')
const SINCE = NOW - 86_400_000
const event = (eventId: string, ageMs: number) => ({ eventId, eventType: 'refund.created', createdAt: NOW - ageMs })
const judge = (unseen: ReturnType<typeof event>[], listed: ReturnType<typeof event>[], arrived: string[]) =>
  judgeFeed({ unseen }, listed, new Set(arrived), SINCE, NOW)

describe('a feed', () => {
  test.for<{ name: string; unseen?: [string, number][]; listed: [string, number][]; arrived: string[]; is: string }>([
    {
      name: 'during the setup of its endpoint',
      unseen: [['a', 86_400_000 - 60_000]],
      listed: [],
      arrived: [],
      is: 'unknown',
    },
    { name: 'that lists nothing', listed: [], arrived: [], is: 'unknown' },
    { name: 'whose events all arrived', listed: [['a', LATE_AFTER_MS * 2]], arrived: ['a'], is: 'works' },
    { name: 'whose event may still arrive', listed: [['a', LATE_AFTER_MS - 1]], arrived: [], is: 'unknown' },
    {
      name: 'whose event is late in the first list that has it',
      listed: [['a', LATE_AFTER_MS]],
      arrived: [],
      is: 'unknown',
    },
    {
      name: 'whose event is late, but another one arrived',
      listed: [
        ['a', LATE_AFTER_MS],
        ['b', 1],
      ],
      arrived: ['b'],
      is: 'unknown',
    },
    {
      name: 'whose event is late, and was already listed before',
      unseen: [['a', LATE_AFTER_MS]],
      listed: [['a', LATE_AFTER_MS]],
      arrived: [],
      is: 'silent',
    },
    {
      name: 'whose event was recent in the last list',
      unseen: [['a', LATE_AFTER_MS]],
      listed: [],
      arrived: [],
      is: 'silent',
    },
    {
      name: 'whose recent event arrived since',
      unseen: [['a', LATE_AFTER_MS]],
      listed: [],
      arrived: ['a'],
      is: 'works',
    },
    {
      name: 'with one of two events missing',
      unseen: [['a', LATE_AFTER_MS * 2]],
      listed: [
        ['a', LATE_AFTER_MS * 2],
        ['b', LATE_AFTER_MS * 2],
      ],
      arrived: ['b'],
      is: 'silent',
    },
    { name: 'with events from before the connection', listed: [['a', 2 * 86_400_000]], arrived: [], is: 'unknown' },
  ])('$name: $is', ({ unseen = [], listed, arrived, is }) => {
    const of = (list: [string, number][]) => list.map(([id, age]) => event(id, age))
    expect(judge(of(unseen), of(listed), arrived).kind).toBe(is)
  })

  test('keeps events that may still arrive, without those that are reported as missing', () => {
    const verdict = judge([event('missing', LATE_AFTER_MS)], [event('late', LATE_AFTER_MS), event('young', 1)], [])
    expect(verdict.unseen.map(one => one.eventId)).toEqual(['late', 'young'])
  })
})

test('the text names the number, the types and the first time of missing events', () => {
  const text = describeMissing([event('a', 0), { ...event('b', 60_000), eventType: 'charge.refunded' }])
  expect(text).toContain('2 notifications (charge.refunded, refund.created) that did not arrive')
  expect(text).toContain('2026-11-21T09:59:00.000Z')
})
