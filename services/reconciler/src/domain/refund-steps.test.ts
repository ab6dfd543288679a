import { describe, expect, test } from 'vitest'
import {
  alertsOf,
  isOpen,
  lookAll,
  MINUTE,
  operationSeen,
  play,
  refundSeen,
  SECOND,
  T0,
  type TotalFacts,
  totalSeen,
} from '../../test/fixtures.ts'
import type { Input } from './decide.ts'
import type { Subject } from './subject.ts'

const iso = (ms: number) => new Date(ms).toISOString()
const at = (ms: number, input: Input) => ({ at: ms, input })
const total = (facts: TotalFacts, eventId: string) => totalSeen(facts, { eventId })
const named = (id: string, amount: number, more: object = {}) => refundSeen({ id, amount, ...more })
const operationFor = (id: string, amount: number, ms = T0) =>
  operationSeen({ operation_id: `op_${id}`, amount, provider_ref: id, executing_at: iso(ms), ended_at: iso(ms) })
const verdicts = (subject: Subject) =>
  subject.actions.map(action => `${action.providerRef ?? 'provisional'} ${action.amount} ${action.verdict}`).sort()

/** Steps, then every look; later steps, then every look. */
function story(first: { at: number; input: Input }[], later: { at: number; input: Input }[] = []): Subject {
  return lookAll(play(later, lookAll(play(first))))
}

describe('what the totals of a charge tell of its refunds', () => {
  test('a refund that failed and was made again leaves the same total, and is seen all the same', () => {
    const twoDaysOn = T0 + 48 * 60 * MINUTE
    const subject = story(
      [at(T0, operationSeen()), at(T0, total({ total: 2499, before: 0 }, 'a'))],
      [at(twoDaysOn, total({ total: 2499, before: 0, createdAt: twoDaysOn }, 'b'))],
    )
    expect(alertsOf(subject)).toEqual(['incident.opened'])
  })

  test('a failed refund does not hide the one made in its place', () => {
    const later = T0 + 48 * 60 * MINUTE
    const subject = story(
      [
        at(T0, operationFor('re_1', 2499)),
        at(T0, named('re_1', 2499)),
        at(T0, total({ total: 2499, before: 0 }, 'a')),
        at(T0 + SECOND, named('re_1', 2499, { eventType: 'refund.failed', status: 'failed' })),
      ],
      [at(later, total({ total: 2000, before: 0, createdAt: later }, 'b'))],
    )
    expect(alertsOf(subject)).toEqual(['drift.detected', 'incident.opened'])
  })

  test('a smaller refund does not take a provisional action of more over', () => {
    const subject = story(
      [at(T0, total({ total: 3000, before: 0 }, 'a'))],
      [at(T0 + 5 * MINUTE, operationFor('re_1', 1000)), at(T0 + 6 * MINUTE, named('re_1', 1000))],
    )
    expect(verdicts(subject)).toEqual(['provisional 3000 unexplained', 're_1 1000 explained'])
  })

  test('a refund takes over the provisional action of its own amount, whichever comes first', () => {
    const subject = story(
      [
        at(T0, operationSeen({ amount: 2000 })),
        at(T0, total({ total: 2000, before: 0 }, 'a')),
        at(T0 + SECOND, total({ total: 3000, before: 2000 }, 'b')),
      ],
      [at(T0 + 5 * MINUTE, named('re_small', 1000)), at(T0 + 5 * MINUTE, named('re_big', 2000))],
    )
    expect(verdicts(subject)).toEqual(['re_big 2000 explained', 're_small 1000 unexplained'])
    expect(alertsOf(subject)).toEqual(['incident.opened'])
  })

  test('two totals out of order, both explained, alert nobody', () => {
    const subject = story([
      at(T0, operationSeen({ operation_id: 'op_1', amount: 1000 })),
      at(T0, operationSeen({ operation_id: 'op_2', amount: 1500 })),
      at(T0 + SECOND, total({ total: 2500, before: 1000 }, 'b')),
      at(T0 + 2 * SECOND, total({ total: 1000, before: 0 }, 'a')),
    ])
    expect(alertsOf(subject)).toEqual([])
  })

  test('a later refund that is explained does not take an older unexplained one over', () => {
    const later = T0 + 60 * MINUTE
    const explained = story(
      [at(T0, total({ total: 1000, before: 0 }, 'a'))],
      [at(later, operationFor('re_B', 500, later)), at(later, named('re_B', 500, { createdAt: later }))],
    )
    const subject = lookAll(play([at(later + MINUTE, named('re_A', 1000, { createdAt: T0 }))], explained))
    expect(alertsOf(subject)).toEqual(['incident.opened'])
    expect(verdicts(subject)).toEqual(['re_A 1000 unexplained', 're_B 500 explained'])
  })

  test('a refund made after the total does not hide the one that the total shows', () => {
    const later = T0 + 30 * SECOND
    const subject = story([
      at(T0, total({ total: 1000, before: 0 }, 'a')),
      at(later, operationFor('re_B', 1000, later)),
      at(later, named('re_B', 1000, { createdAt: later })),
    ])
    expect(alertsOf(subject)).toEqual(['incident.opened'])
  })

  test.each([
    { name: 'explained, nobody is told', operations: true, alerts: 0 },
    { name: 'unexplained, there are as many alerts as refunds', operations: false, alerts: 2 },
  ])('when one of two refund events comes minutes late and both are $name', ({ operations, alerts }) => {
    const second = T0 + 10 * SECOND
    const reports = operations ? [at(T0, operationFor('re_0', 2000)), at(T0, operationFor('re_1', 1000, second))] : []
    const subject = story(
      [
        ...reports,
        at(T0, total({ total: 2000, before: 0 }, 'a')),
        at(second, named('re_1', 1000, { createdAt: second })),
        at(second, total({ total: 3000, before: 2000, createdAt: second }, 'b')),
      ],
      [at(T0 + 5 * MINUTE, named('re_0', 2000))],
    )
    expect(subject.actions).toHaveLength(2)
    expect(alertsOf(subject).filter(event => event === 'incident.opened')).toHaveLength(alerts)
    expect(subject.actions.filter(isOpen)).toHaveLength(alerts)
  })

  test('a provisional action that was taken over shows the state of the refund', () => {
    const subject = story(
      [at(T0, totalSeen({ total: 2499, before: 0 }))],
      [at(T0 + 2 * MINUTE, refundSeen({ status: 'pending' }))],
    )
    expect(subject.actions[0]?.state).toBe('pending')
  })

  test('a refund from before the connection that is seen late does not hide a new one', () => {
    const subject = story([
      at(T0, named('re_A', 1000, { eventType: 'refund.updated', createdAt: T0 - 120 * MINUTE })),
      at(T0, total({ total: 2000, before: 1000 }, 'b')),
    ])
    expect(alertsOf(subject)).toEqual(['incident.opened'])
  })

  test('a total that does not say from where it came is held against the refunds known by then', () => {
    const subject = story([at(T0, named('re_1', 1000)), at(T0, total({ total: 2500 }, 'a'))])
    expect(verdicts(subject)).toEqual(['provisional 1500 unexplained', 're_1 1000 unexplained'])
  })
})
