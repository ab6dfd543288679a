import { describe, expect, test } from 'vitest'
import {
  alertsOf,
  emptyCase,
  hasOpenAlert,
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
import type { Case } from '../case/case.ts'
import type { Input } from '../decide/decide.ts'
import { mergeCases } from '../decide/merge.ts'

const iso = (ms: number) => new Date(ms).toISOString()
const at = (ms: number, input: Input) => ({ at: ms, input })
const total = (facts: TotalFacts, eventId: string) => totalSeen(facts, { eventId })
const named = (id: string, amount: number, more: object = {}) => refundSeen({ id, amount, ...more })
const operationFor = (id: string, amount: number, ms = T0) =>
  operationSeen({ operation_id: `op_${id}`, amount, provider_ref: id, executing_at: iso(ms), ended_at: iso(ms) })
const verdicts = (theCase: Case) =>
  theCase.actions.map(action => `${action.providerRef ?? 'provisional'} ${action.amount} ${action.verdict}`).sort()

/** Plays steps and all looks, then the later steps and all looks. */
function playInTwoParts(first: { at: number; input: Input }[], later: { at: number; input: Input }[] = []): Case {
  return lookAll(play(later, lookAll(play(first))))
}

describe('the refunds that the totals of a charge show', () => {
  test('a refund that failed and was made again gives the same total, and is found', () => {
    const twoDaysOn = T0 + 48 * 60 * MINUTE
    const theCase = playInTwoParts(
      [at(T0, operationSeen()), at(T0, total({ total: 2499, before: 0 }, 'a'))],
      [at(twoDaysOn, total({ total: 2499, before: 0, createdAt: twoDaysOn }, 'b'))],
    )
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
  })

  test('a failed refund does not hide the refund that replaces it', () => {
    const later = T0 + 48 * 60 * MINUTE
    const theCase = playInTwoParts(
      [
        at(T0, operationFor('re_1', 2499)),
        at(T0, named('re_1', 2499)),
        at(T0, total({ total: 2499, before: 0 }, 'a')),
        at(T0 + SECOND, named('re_1', 2499, { eventType: 'refund.failed', status: 'failed' })),
      ],
      [at(later, total({ total: 2000, before: 0, createdAt: later }, 'b'))],
    )
    expect(alertsOf(theCase)).toEqual(['drift.detected', 'incident.opened'])
  })

  test('an operation of all money between two totals explains it until an earlier total splits it by time', () => {
    const hourLater = T0 + 60 * MINUTE
    const charge = { chargeCreatedAt: T0 - 50 * MINUTE }
    const whole = playInTwoParts([
      at(hourLater, total({ total: 2700, before: 2000, createdAt: hourLater, ...charge }, 'late')),
      at(hourLater, operationSeen({ amount: 2000 })),
    ])
    expect(verdicts(whole)).toEqual(['provisional 2000 explained', 'provisional 700 unexplained'])
    const early = at(hourLater + 5 * MINUTE, total({ total: 700, before: 0, ...charge }, 'early'))
    expect(verdicts(lookAll(lookAll(play([early], whole))))).toEqual([
      'provisional 1300 unexplained',
      'provisional 700 unexplained',
      'provisional 700 unexplained',
    ])
  })

  test('an operation that names the request of a total explains the refund that only the total shows', () => {
    const rises = (requestId: string) =>
      playInTwoParts([
        at(T0, total({ total: 2000, before: 0, requestId }, 'a')),
        at(T0, operationSeen({ provider_request_id: 'req_1', amount: 1 })),
      ])
    expect(verdicts(rises('req_1'))).toEqual(['provisional 2000 explained'])
    expect(verdicts(rises('req_2'))).toEqual(['provisional 2000 unexplained'])
  })

  test('a smaller refund reduces the amount of the provisional action, and does not replace it', () => {
    const theCase = playInTwoParts(
      [at(T0, total({ total: 3000, before: 0 }, 'a'))],
      [at(T0 + 5 * MINUTE, operationFor('re_1', 1000)), at(T0 + 6 * MINUTE, named('re_1', 1000))],
    )
    expect(verdicts(theCase)).toEqual(['provisional 2000 unexplained', 're_1 1000 explained'])
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
  })

  test('a refund replaces the provisional action of its own amount, in either order', () => {
    const theCase = playInTwoParts(
      [
        at(T0, operationSeen({ amount: 2000 })),
        at(T0, total({ total: 2000, before: 0 }, 'a')),
        at(T0 + SECOND, total({ total: 3000, before: 2000 }, 'b')),
      ],
      [at(T0 + 5 * MINUTE, named('re_small', 1000)), at(T0 + 5 * MINUTE, named('re_big', 2000))],
    )
    expect(verdicts(theCase)).toEqual(['re_big 2000 explained', 're_small 1000 unexplained'])
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
  })

  test('two totals out of order, both explained, do not alert', () => {
    const theCase = playInTwoParts([
      at(T0, operationSeen({ operation_id: 'op_1', amount: 1000 })),
      at(T0, operationSeen({ operation_id: 'op_2', amount: 1500 })),
      at(T0 + SECOND, total({ total: 2500, before: 1000 }, 'b')),
      at(T0 + 2 * SECOND, total({ total: 1000, before: 0 }, 'a')),
    ])
    expect(alertsOf(theCase)).toEqual([])
  })

  test('a later explained refund does not replace an older unexplained one', () => {
    const later = T0 + 60 * MINUTE
    const explained = playInTwoParts(
      [at(T0, total({ total: 1000, before: 0 }, 'a'))],
      [at(later, operationFor('re_B', 500, later)), at(later, named('re_B', 500, { createdAt: later }))],
    )
    const theCase = lookAll(play([at(later + MINUTE, named('re_A', 1000, { createdAt: T0 }))], explained))
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
    expect(verdicts(theCase)).toEqual(['re_A 1000 unexplained', 're_B 500 explained'])
  })

  test('a refund made after the total does not hide the refund that the total shows', () => {
    const later = T0 + 30 * SECOND
    const theCase = playInTwoParts([
      at(T0, total({ total: 1000, before: 0 }, 'a')),
      at(later, operationFor('re_B', 1000, later)),
      at(later, named('re_B', 1000, { createdAt: later })),
    ])
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
  })

  test.each([
    { name: 'explained, there is no alert', operations: true, alerts: 0 },
    { name: 'unexplained, there are as many alerts as refunds', operations: false, alerts: 2 },
  ])('if one of two refund events is minutes late and both are $name', ({ operations, alerts }) => {
    const second = T0 + 10 * SECOND
    const reports = operations ? [at(T0, operationFor('re_0', 2000)), at(T0, operationFor('re_1', 1000, second))] : []
    const theCase = playInTwoParts(
      [
        ...reports,
        at(T0, total({ total: 2000, before: 0 }, 'a')),
        at(second, named('re_1', 1000, { createdAt: second })),
        at(second, total({ total: 3000, before: 2000, createdAt: second }, 'b')),
      ],
      [at(T0 + 5 * MINUTE, named('re_0', 2000))],
    )
    expect(theCase.actions).toHaveLength(2)
    expect(alertsOf(theCase).filter(event => event === 'incident.opened')).toHaveLength(alerts)
    expect(theCase.actions.filter(hasOpenAlert)).toHaveLength(alerts)
  })

  test('a replaced provisional action shows the state of the refund', () => {
    const theCase = playInTwoParts(
      [at(T0, totalSeen({ total: 2499, before: 0 }))],
      [at(T0 + 2 * MINUTE, refundSeen({ status: 'pending' }))],
    )
    expect(theCase.actions[0]?.state).toBe('pending')
  })

  test('a late refund from before the connection does not hide a new one', () => {
    const theCase = playInTwoParts([
      at(T0, named('re_A', 1000, { eventType: 'refund.updated', createdAt: T0 - 120 * MINUTE })),
      at(T0, total({ total: 2000, before: 1000 }, 'b')),
    ])
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
  })

  test('a total without the total before is compared with the refunds known by then', () => {
    const theCase = playInTwoParts([at(T0, named('re_1', 1000)), at(T0, total({ total: 2500 }, 'a'))])
    expect(verdicts(theCase)).toEqual(['provisional 1500 unexplained', 're_1 1000 unexplained'])
  })
})

/** All permutations of a list. */
function ordersOf<T>(things: readonly T[]): T[][] {
  if (things.length === 0) return [[]]
  return things.flatMap((first, index) => ordersOf(things.toSpliced(index, 1)).map(rest => [first, ...rest]))
}

describe('what the totals of a charge prove beyond the known refunds', () => {
  const second = T0 + 10 * SECOND
  const firstTotal = total({ total: 700, before: 0 }, 'a')
  const secondTotal = total({ total: 1400, before: 700, createdAt: second }, 'b')
  const first = named('re_1', 700)
  const other = named('re_2', 700, { createdAt: second })

  test.each(ordersOf([first, secondTotal]).map(inputs => ({ inputs })))(
    'a second refund of the same amount, when only its total and the first refund arrive (order %#)',
    ({ inputs }) => {
      const explained = at(T0, operationFor('re_1', 700))
      const theCase = playInTwoParts([explained, ...inputs.map(input => at(T0 + MINUTE, input))])
      expect(verdicts(theCase)).toEqual(['provisional 700 unexplained', 're_1 700 explained'])
      expect(alertsOf(theCase)).toEqual(['incident.opened'])
      expect(theCase.actions.find(({ providerRef }) => providerRef === null)?.providerCreatedAt).toBe(second)
    },
  )

  test('a first refund without any event', () => {
    const theCase = playInTwoParts([at(second, other), at(second, secondTotal)])
    expect(verdicts(theCase)).toEqual(['provisional 700 unexplained', 're_2 700 unexplained'])
  })

  test('two refunds, if only the second total arrives; the first total changes nothing later', () => {
    const alone = playInTwoParts([at(second, secondTotal)])
    const theCase = lookAll(play([at(second + 5 * MINUTE, firstTotal)], alone))
    expect(verdicts(alone)).toEqual(['provisional 700 unexplained', 'provisional 700 unexplained'])
    expect(verdicts(theCase)).toEqual(verdicts(alone))
    expect(theCase.actions.map(({ id }) => id)).toEqual(alone.actions.map(({ id }) => id))
    expect(theCase.actions.map(({ providerCreatedAt }) => providerCreatedAt).sort()).toEqual([T0, second])
    expect(alertsOf(theCase)).toEqual(['incident.opened', 'incident.opened'])
  })

  test.each(ordersOf([first, firstTotal, other, secondTotal]).map(inputs => ({ inputs })))(
    'nothing, when all events of two equal refunds arrive (order %#)',
    ({ inputs }) => {
      const minutesApart = playInTwoParts(inputs.map((input, index) => at(T0 + index * 5 * MINUTE, input)))
      expect(verdicts(minutesApart)).toEqual(['re_1 700 unexplained', 're_2 700 unexplained'])
      expect(alertsOf(minutesApart)).toEqual(['incident.opened', 'incident.opened'])
    },
  )

  test('a refund that an operation made between two totals is explained by that operation', () => {
    const theCase = playInTwoParts([
      at(second, operationSeen({ amount: 700, executing_at: iso(T0), ended_at: iso(T0 + SECOND) })),
      at(T0, total({ total: 500, before: 0, createdAt: T0 - MINUTE }, 'a')),
      at(second + 60 * MINUTE, total({ total: 1300, before: 1200, createdAt: T0 + 60 * MINUTE }, 'c')),
    ])
    expect(verdicts(theCase)).toEqual([
      'provisional 100 unexplained',
      'provisional 500 unexplained',
      'provisional 700 explained',
    ])
  })

  test('an operation explains the refund that was made when it acted, before a refund of uncertain time', () => {
    const executed = { amount: 700, executing_at: iso(second), ended_at: iso(second + SECOND) }
    const theCase = playInTwoParts([at(second, operationSeen(executed)), at(second, other), at(second, secondTotal)])
    expect(verdicts(theCase)).toEqual(['provisional 700 unexplained', 're_2 700 explained'])
  })

  test('the request shows which of two equal refunds of one second the total is about', () => {
    const facts = { total: 1400, before: 700, createdAt: T0, chargeCreatedAt: T0 - 90 * MINUTE }
    const caseAfter = (requestId: string) =>
      playInTwoParts([at(T0, named('re_1', 700, { requestId: 'req_1' })), at(T0, total({ ...facts, requestId }, 'b'))])
    expect(verdicts(caseAfter('req_1'))).toEqual(['re_1 700 unexplained'])
    expect(verdicts(caseAfter('req_2'))).toEqual(['provisional 700 unexplained', 're_1 700 unexplained'])
  })

  test.each([
    { name: 'the idempotency key', of: { idempotencyKey: 'k1' }, not: { idempotencyKey: 'k2' } },
    { name: 'the request', of: { requestId: 'req_1' }, not: { requestId: 'req_2' } },
  ])('two totals of one amount within a minute are distinguished by $name', ({ of, not }) => {
    const once = playInTwoParts([
      at(T0, total({ total: 700, before: 0, ...of }, 'a')),
      at(T0, total({ total: 700, ...of }, 'b')),
    ])
    expect(once.refundTotals).toHaveLength(1)
    const again = { total: 700, before: 0, createdAt: second, ...not }
    const twice = playInTwoParts([at(T0, total({ total: 700, before: 0, ...of }, 'a')), at(T0, total(again, 'b'))])
    expect(verdicts(twice)).toEqual(['provisional 700 unexplained', 'provisional 700 unexplained'])
  })

  test('no amount that may have been refunded before the connection was made', () => {
    const facts = { total: 1400, before: 700, createdAt: second, chargeCreatedAt: T0 - 90 * MINUTE }
    const theCase = playInTwoParts([
      at(second, operationFor('re_2', 700, second)),
      at(second, other),
      at(second, total(facts, 'b')),
    ])
    expect(verdicts(theCase)).toEqual(['re_2 700 explained'])
  })

  test('a refund made after a total that the connection showed, though the charge is older', () => {
    const charge = { chargeCreatedAt: T0 - 90 * MINUTE }
    const theCase = playInTwoParts([
      at(T0, operationFor('re_1', 700)),
      at(T0, first),
      at(T0, total({ total: 700, before: 0, ...charge }, 'a')),
      at(second, total({ total: 1800, before: 1100, createdAt: second, ...charge }, 'c')),
    ])
    expect(verdicts(theCase)).toEqual([
      'provisional 400 unexplained',
      'provisional 700 unexplained',
      're_1 700 explained',
    ])
  })

  test('a refund made while another one failed, so that the total is unchanged', () => {
    const failed = { eventType: 'refund.failed', status: 'failed', reportedAt: T0 + 5 * MINUTE }
    const later = T0 + 60 * MINUTE
    const theCase = playInTwoParts([
      at(T0, first),
      at(T0, firstTotal),
      at(T0 + 5 * MINUTE, named('re_1', 700, failed)),
      at(later, named('re_3', 300, { createdAt: later })),
      at(later, total({ total: 1000, before: 700, createdAt: later }, 'c')),
    ])
    expect(verdicts(theCase)).toEqual(['provisional 700 unexplained', 're_1 700 unexplained', 're_3 300 unexplained'])
  })

  test.each([
    { name: 'that an event reports', reportedAt: T0 + 5 * MINUTE, eventType: 'refund.failed' },
    {
      name: 'that only a later event about its metadata reports',
      reportedAt: T0 + 500 * MINUTE,
      eventType: 'refund.updated',
    },
  ])('no refund for a failure $name', ({ reportedAt, eventType }) => {
    const later = T0 + 60 * MINUTE
    const theCase = playInTwoParts([
      at(T0, first),
      at(T0, firstTotal),
      at(T0, named('re_1', 700, { eventType, status: 'failed', reportedAt })),
      at(later, named('re_3', 300, { createdAt: later })),
      at(later, total({ total: 300, before: 0, createdAt: later }, 'c')),
    ])
    expect(verdicts(theCase)).toEqual(['re_1 700 unexplained', 're_3 300 unexplained'])
  })

  test('a refund of one of two charges of a payment, when the known one is of the other', () => {
    const ofOther = named('re_1', 700, { charge: 'ch_2' })
    const otherTotal = (eventId: string) => {
      const { sighting, ...seen } = total({ total: 700, before: 0 }, eventId) as Extract<Input, { kind: 'sighting' }>
      const names = { chargeId: 'ch_2', identity: 'prj_test/processor/charge/ch_2', objectIds: ['pi_1', 'ch_2'] }
      return { ...seen, sighting: { ...sighting, ...names } } as Input
    }
    const theCase = playInTwoParts([at(T0, ofOther), at(T0, firstTotal), at(T0, otherTotal('b'))])
    expect(verdicts(theCase)).toEqual(['provisional 700 unexplained', 're_1 700 unexplained'])
  })

  test('an equal total without the total before proves another refund', () => {
    const later = T0 + 60 * MINUTE
    const theCase = playInTwoParts([
      at(T0, total({ total: 700 }, 'a')),
      at(later, total({ total: 700, createdAt: later }, 'b')),
    ])
    expect(verdicts(theCase)).toEqual(['provisional 700 unexplained', 'provisional 700 unexplained'])
  })
})

describe('one total of several refunds', () => {
  const whole = total({ total: 1300, before: 0 }, 'a')
  const parts = [named('re_1', 500), named('re_2', 800)]
  const operations = [at(T0, operationFor('re_1', 500)), at(T0, operationFor('re_2', 800))]

  test.each(ordersOf([whole, ...parts]).map(inputs => ({ inputs })))(
    'sends no alert when each of them is explained (order %#)',
    ({ inputs }) => {
      const theCase = playInTwoParts([...operations, ...inputs.map(input => at(T0, input))])
      expect(verdicts(theCase)).toEqual(['re_1 500 explained', 're_2 800 explained'])
      expect(alertsOf(theCase)).toEqual([])
    },
  )

  test('resolves its alert if they arrive later, all of them explained', () => {
    const alone = playInTwoParts([...operations, at(T0, whole)])
    expect(verdicts(alone)).toEqual(['provisional 1300 unexplained'])
    const partly = lookAll(play([at(T0 + 5 * MINUTE, parts[0]!)], alone))
    expect(verdicts(partly)).toEqual(['provisional 800 unexplained', 're_1 500 explained'])
    const theCase = lookAll(play([at(T0 + 9 * MINUTE, parts[1]!)], partly))
    expect(verdicts(theCase)).toEqual(['re_1 500 explained', 're_2 800 explained'])
    expect(alertsOf(theCase)).toEqual(['incident.opened', 'incident.resolved'])
    expect(theCase.actions.find(({ providerRef }) => providerRef === 're_2')?.id).toBe(alone.actions[0]?.id)
  })

  test('alerts about the rest if one of them is unknown', () => {
    const theCase = playInTwoParts([at(T0, operationFor('re_1', 500)), at(T0, whole), at(T0, parts[0]!)])
    expect(verdicts(theCase)).toEqual(['provisional 800 unexplained', 're_1 500 explained'])
  })

  test('counts a refund of unknown amount as the rest', () => {
    const { sighting, ...seen } = parts[1] as Extract<Input, { kind: 'sighting' }>
    const ofUnknown = { ...seen, sighting: { ...sighting, amount: null } } as Input
    expect(verdicts(playInTwoParts([at(T0, whole), at(T0, parts[0]!), at(T0, ofUnknown)]))).toEqual([
      're_1 500 unexplained',
      're_2 null unexplained',
    ])
  })
})

describe('the refund that replaces a provisional action', () => {
  const second = T0 + 10 * SECOND
  const firstTotal = total({ total: 700, before: 0 }, 'a')
  const secondTotal = total({ total: 1400, before: 700, createdAt: second }, 'b')
  const agreeing = operationSeen({ amount: 700, executing_at: iso(T0), ended_at: iso(T0 + SECOND) })
  const story2 = (theCase: Case) =>
    theCase.actions.map(({ id, providerRef, verdict }) => ({ id, providerRef, verdict }))

  test('leaves each of two equal refunds its verdict, in either order', () => {
    const provisional = playInTwoParts([at(T0, agreeing), at(T0, firstTotal), at(second, secondTotal)])
    expect(verdicts(provisional)).toEqual(['provisional 700 explained', 'provisional 700 unexplained'])
    const [explained, alerted] = provisional.actions
    const arrivals = [named('re_1', 700), named('re_2', 700, { createdAt: second })]
    for (const order of ordersOf(arrivals)) {
      const theCase = lookAll(
        play(
          order.map((input, index) => at(second + (5 + index) * MINUTE, input)),
          provisional,
        ),
      )
      expect(story2(theCase)).toEqual([
        { id: explained?.id, providerRef: 're_1', verdict: 'explained' },
        { id: alerted?.id, providerRef: 're_2', verdict: 'unexplained' },
      ])
      expect(alertsOf(theCase)).toEqual(['incident.opened'])
    }
  })

  test('is the late one of two equal refunds, and the known one keeps its record', () => {
    const before = playInTwoParts([at(T0, agreeing), at(T0, named('re_1', 700)), at(second, secondTotal)])
    const [known, provisional] = before.actions
    const theCase = lookAll(play([at(second + 5 * MINUTE, named('re_2', 700, { createdAt: second }))], before))
    expect(story2(theCase)).toEqual([
      { id: known?.id, providerRef: 're_1', verdict: 'explained' },
      { id: provisional?.id, providerRef: 're_2', verdict: 'unexplained' },
    ])
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
  })

  test('keeps its explanation if it is late, while the look at another total is pending', () => {
    const before = playInTwoParts([at(T0, firstTotal)])
    const later = T0 + 30 * MINUTE
    const seen = play(
      [at(later, total({ total: 1000, before: 700, createdAt: later }, 'c')), at(later + SECOND, named('re_1', 700))],
      before,
    )
    expect(seen.actions.map(({ id, providerRef }) => ({ id, providerRef }))).toEqual([
      { id: before.actions[0]?.id, providerRef: 're_1' },
    ])
    expect(verdicts(lookAll(seen))).toEqual(['provisional 300 unexplained', 're_1 700 unexplained'])
  })

  test('may come from another case that is merged', () => {
    const alerted = playInTwoParts([at(T0, firstTotal)])
    const elsewhere = lookAll(play([at(T0, named('re_1', 700))], { ...emptyCase(), id: 'sub_other' }))
    const { merged } = mergeCases(alerted, elsewhere, second)
    const theCase = lookAll(play([at(second, operationFor('re_9', 1))], merged))
    expect(theCase.actions.map(({ providerRef }) => providerRef)).toEqual(['re_1'])
    expect(theCase.merged).toHaveLength(1)
    expect(theCase.actions.filter(hasOpenAlert)).toHaveLength(1)
    expect(theCase.actions[0]?.incidents.filter(({ state }) => state === 'open')).toHaveLength(1)
  })

  test('a total that two connections show counts once', () => {
    const connection = { id: 'con_b', createdAt: T0 - 30 * MINUTE }
    const again = totalSeen({ total: 700, before: 0 }, { eventId: 'a', connection })
    const theCase = lookAll(play([at(T0 + 5 * MINUTE, again)], playInTwoParts([at(T0, firstTotal)])))
    expect(theCase.actions.map(({ seenThrough }) => seenThrough.map(({ id }) => id))).toEqual([['con_a', 'con_b']])
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
  })
})
