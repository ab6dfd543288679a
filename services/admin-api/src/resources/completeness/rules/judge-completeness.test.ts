import type { SweepDayDocument } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { type CompletenessFacts, judgeCompleteness, outagesIn } from './judge-completeness.ts'

/** The third quarter; now is in the fourth. */
const PERIOD = { from: new Date('2026-07-01'), to: new Date('2026-10-01') }
const NOW = new Date('2026-11-20T12:00:00.000Z')
const at = (time: string) => new Date(`2026-${time}Z`)
const MINUTE = 60_000
const ago = (minutes: number) => new Date(NOW.getTime() - minutes * MINUTE)

const CONNECTION = {
  ...{ _id: 'con_1', name: 'Shop Germany', kind: 'reseller', deleted_at: null },
  created_at: at('01-01T00:00'),
  read_key: {} as never,
} as const satisfies CompletenessFacts['connection']
const SWEEP = { last_error: null, next_run_at: ago(-3), completed_at: ago(2), read_until: ago(2) }
const LINE = { kind: 'refund', currency: 'eur', mode: 'live', amount: 500 } as const
const FACTS: CompletenessFacts = {
  ...{ connection: CONNECTION, sweep: SWEEP, days: [], recordedFrom: at('01-01T00:00') },
  lines: [
    { ...LINE, category: 'made_by_our_software', count: 8 },
    { ...LINE, category: 'unexplained', count: 2 },
  ],
  ...{ pending: 0, pendingSinceYesterday: 0, withoutNotification: 1 },
  ...{ waitingNotifications: 0, unusableNotifications: 0, isBeingCounted: false },
}
const day = (of: string, more: Partial<SweepDayDocument> = {}): SweepDayDocument => ({
  ...{ _id: `con_1/${of}`, project_id: 'prj_1', connection_id: 'con_1', day: at(`${of}T00:00`) },
  ...{ recorded_from: at('01-01T00:00'), completed: 280, objects: 300, interruptions: [], ...more },
})
const judge = (more: Partial<CompletenessFacts> = {}, period = PERIOD) =>
  judgeCompleteness({ ...FACTS, ...more }, period, NOW)

describe('a period', () => {
  test('is complete if everything was read and judged', () => {
    expect(judge({ days: [day('07-01'), day('09-30'), day('10-01')] })).toEqual({
      ...{ connection_id: 'con_1', connection_name: 'Shop Germany', provider: 'reseller' },
      ...{ answer: 'complete', open: [], limits: [] },
      ...{ watched_from: PERIOD.from.toISOString(), watched_to: PERIOD.to.toISOString() },
      complete_until: PERIOD.to.toISOString(),
      ...{ recorded: 10, judged: 10, found_by_reading: 1, waiting_notifications: 0, unusable_notifications: 0 },
      reading: { recorded_from: '2026-01-01T00:00:00.000Z', completed: 560, objects: 600, interruptions: [] },
      lines: FACTS.lines,
    })
  })

  const RUNNING = { from: new Date('2026-11-01'), to: new Date('2026-12-01') }
  const REFUSED = { ...SWEEP, last_error: 'The provider refused the key', completed_at: ago(60), read_until: ago(60) }
  const keyless = { ...CONNECTION, read_key: null }
  interface Case {
    name: string
    facts?: Partial<CompletenessFacts>
    period?: typeof PERIOD
    answer: string
    open?: string[]
    limits?: string[]
    until?: Date | null
  }
  test.each<Case>([
    {
      name: 'that has not ended is complete up to the last sweep',
      period: RUNNING,
      answer: 'complete_so_far',
      until: ago(2),
    },
    {
      name: 'that has not ended may have verdicts of today that are due',
      facts: { pending: 2, isBeingCounted: true },
      period: RUNNING,
      answer: 'complete_so_far',
      until: ago(2),
    },
    {
      name: 'that has not ended is open if an older change has no verdict',
      facts: { pending: 2, pendingSinceYesterday: 1 },
      period: RUNNING,
      answer: 'open',
      open: ['verdicts_pending'],
      until: ago(2),
    },
    {
      name: 'that has not ended is open while the account cannot be read',
      facts: { sweep: REFUSED },
      period: RUNNING,
      answer: 'open',
      open: ['not_read_yet'],
      until: ago(60),
    },
    {
      name: 'that has not ended is open while no sweep runs',
      facts: { sweep: { ...SWEEP, next_run_at: ago(16) } },
      period: RUNNING,
      answer: 'open',
      open: ['not_read_yet'],
      until: ago(2),
    },
    {
      name: 'is open with a change without a verdict',
      facts: { pending: 1 },
      answer: 'open',
      open: ['verdicts_pending'],
    },
    {
      name: 'is open with notifications that wait or cannot be used, and while it is counted',
      facts: { waitingNotifications: 1, unusableNotifications: 2, isBeingCounted: true },
      answer: 'open',
      open: ['notifications_wait', 'notifications_unusable', 'being_counted'],
    },
    {
      name: 'is open before the first complete sweep',
      facts: { sweep: { last_error: null, next_run_at: ago(-3), completed_at: null }, recordedFrom: null },
      answer: 'open',
      open: ['not_read_yet'],
      limits: ['reading_not_recorded'],
      until: null,
    },
    {
      name: 'is not provable without a read key',
      facts: { connection: keyless, sweep: undefined, recordedFrom: null },
      answer: 'not_provable',
      limits: ['no_read_key'],
      until: null,
    },
    {
      name: 'is complete if it was read before the key was removed',
      facts: { connection: keyless },
      answer: 'complete',
    },
    {
      name: 'is not provable if the account was not read for more than 30 days',
      facts: {
        days: [day('09-10', { interruptions: [{ from: at('08-01T00:00'), to: at('09-10T00:00'), cause: null }] })],
      },
      answer: 'not_provable',
      limits: ['not_read_for_thirty_days'],
    },
    {
      name: 'is complete if only the last 30 days of a long interruption belong to it',
      facts: {
        days: [day('07-20', { interruptions: [{ from: at('05-01T00:00'), to: at('07-20T00:00'), cause: null }] })],
      },
      answer: 'complete',
    },
    {
      name: 'says that the account was connected later, and that an earlier version counted days',
      facts: { connection: { ...CONNECTION, created_at: at('08-01T00:00') }, withoutNotification: null },
      answer: 'complete',
      limits: ['connected_later', 'found_by_reading_not_recorded'],
    },
    {
      name: 'says that earlier interruptions are not recorded, and what a platform lacks',
      facts: { recordedFrom: at('07-31T00:00'), connection: { ...CONNECTION, kind: 'processor' } },
      answer: 'complete',
      limits: ['reading_not_recorded', 'connected_accounts'],
    },
    {
      name: 'is not provable if nothing is recorded about reading more than 30 days after its beginning',
      facts: { recordedFrom: at('08-01T00:00') },
      answer: 'not_provable',
      limits: ['reading_not_recorded'],
    },
    {
      name: 'is not provable if nothing is recorded about reading at all',
      facts: { recordedFrom: null },
      answer: 'not_provable',
      limits: ['reading_not_recorded'],
    },
    {
      name: 'ends where a connection was read last before it was deleted',
      facts: {
        connection: { ...CONNECTION, deleted_at: at('09-01T00:00'), read_key: null },
        sweep: undefined,
        days: [day('08-31', { read_until: at('08-31T23:40') })],
      },
      answer: 'complete',
      limits: ['deleted_earlier'],
      until: at('08-31T23:40'),
    },
    {
      name: 'is not provable if the connection was deleted before it was read',
      facts: { connection: { ...CONNECTION, deleted_at: at('09-01T00:00') }, sweep: undefined, recordedFrom: null },
      answer: 'not_provable',
      limits: ['no_read_key', 'deleted_earlier'],
      until: null,
    },
  ])('$name', ({ facts, period, answer, open = [], limits = [], until = PERIOD.to }: Case) => {
    const judged = judge(facts, period)
    expect(judged).toMatchObject({ answer, open, limits, complete_until: until?.toISOString() ?? null })
  })
})

describe('the interruptions of a period', () => {
  const between = (from: string, to: string, cause: string | null = null) => ({ from: at(from), to: at(to), cause })
  const interruptions = (more: Partial<CompletenessFacts>, period = PERIOD) =>
    judge(more, period).reading.interruptions.map(({ from, to }) => [from.slice(5, 16), to?.slice(5, 16) ?? null])

  test('are those that overlap it, also if they ended after it, and one that a crash repeated is one', () => {
    const days = [
      day('07-01', { interruptions: [between('06-30T23:00', '07-01T01:00'), between('07-01T05:00', '07-01T06:00')] }),
      day('07-02', { interruptions: [between('07-01T05:00', '07-02T06:00')] }),
      day('10-02', { interruptions: [between('09-30T23:00', '10-02T00:00'), between('10-01T00:00', '10-02T00:00')] }),
    ]
    expect(interruptions({ days })).toEqual([
      ['06-30T23:00', '07-01T01:00'],
      ['07-01T05:00', '07-01T06:00'],
      ['09-30T23:00', '10-02T00:00'],
    ])
  })

  const RUNNING = { from: new Date('2026-11-01'), to: new Date('2026-12-01') }
  test.each([
    {
      name: 'have one without an end while the account cannot be read',
      sweep: { ...SWEEP, last_error: 'Refused', completed_at: ago(60) },
      found: [['11-20T11:00', null]],
    },
    {
      name: 'have one without an end while no sweep runs',
      sweep: { ...SWEEP, next_run_at: ago(20), completed_at: ago(25) },
      found: [['11-20T11:35', null]],
    },
    { name: 'have none for a failure of a few minutes', sweep: { ...SWEEP, last_error: 'Refused' }, found: [] },
  ])('$name', ({ sweep, found }) => {
    expect(interruptions({ sweep }, RUNNING)).toEqual(found)
  })
})

describe('the outages of a period', () => {
  const up = (from: string, to: string) => ({ from: at(from), to: at(to) })
  const UPTIMES = [up('09-30T22:00', '11-19T00:00'), up('01-01T00:00', '06-30T22:00'), up('07-01T04:00', '09-30T20:00')]

  test('are the times between two times of uptime that overlap it', () => {
    expect(outagesIn(UPTIMES, false, PERIOD)).toEqual({
      recorded_from: '2026-01-01T00:00:00.000Z',
      recorded_until: '2026-11-19T00:00:00.000Z',
      found: [
        { from: '2026-06-30T22:00:00.000Z', to: '2026-07-01T04:00:00.000Z' },
        { from: '2026-09-30T20:00:00.000Z', to: '2026-09-30T22:00:00.000Z' },
      ],
    })
  })

  test('have the one that has not ended only if the heartbeat is missing, because it may be switched off', () => {
    const november = { from: new Date('2026-11-01'), to: new Date('2026-12-01') }
    expect(outagesIn(UPTIMES, false, november)?.found).toEqual([])
    expect(outagesIn(UPTIMES, true, november)?.found).toEqual([{ from: '2026-11-19T00:00:00.000Z', to: null }])
  })

  test('are not known before the first heartbeat', () => {
    expect(outagesIn([], true, PERIOD)).toBeNull()
  })
})
