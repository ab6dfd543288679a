import { describe, expect, test } from 'vitest'
import type { Ground } from '../../actors/truth.ts'
import {
  action,
  alert,
  deed,
  delivery,
  judged,
  MINUTE,
  OWN,
  received,
  rightRun,
  T0,
  TERMS,
  withLists,
  withReceived,
} from '../right-run.ts'

test('an alert may be late if its receiver failed at first', () => {
  const run = rightRun()
  const [first] = run.truth.received.splice(0)
  const { channel, webhookId, body } = first!
  run.truth.failedAttempts.push({ channel, webhookId, body })
  expect(judged(withReceived(run, { ...first!, atMs: T0 + 3 * MINUTE }))).toEqual([])
})

test('a silence that may hold allows no verdict', () => {
  const run = withLists(rightRun(), () => ({ deliveries: [] }))
  run.truth.received.splice(0)
  run.truth.deeds[0]?.grounds.push({ reason: 'a silence', explains: false, begins: { fromMs: T0 } })
  expect(judged(run)).toEqual([])
})

test('an alert during a silence is wrong, also if the silence ends before the run', () => {
  const silencedUntil = (atMs: number) => {
    const run = rightRun()
    const [begins, ends] = [T0 - 1, atMs].map(at => ({ fromMs: at, toMs: at }))
    run.truth.deeds[0]?.grounds.push({ reason: 'a silence', explains: false, begins: begins!, ends })
    return judged(run)
  }
  expect(silencedUntil(T0 + 2 * MINUTE)).toEqual([expect.stringContaining('explained-changes-are-silent')])
  expect(silencedUntil(T0 + MINUTE + 50)).toEqual([])
})

test('a resolution that replaces the opening notifies of both', () => {
  const resolvedWith = (data: object) => {
    const run = rightRun()
    // Of two equal changes one was expected. The other alerted.
    const begins = { fromMs: T0, toMs: T0 }
    const equal = ['re_stranger', 're_expected'].map(ref =>
      deed(ref, { grounds: [{ reason: 'expected', explains: false, begins }] }),
    )
    run.truth.capped.push({ deeds: equal, covered: 1 })
    const body = alert('incident.resolved', 're_stranger', { data })
    run.truth.received.splice(0, 1, received(body))
    return judged(
      withLists(run, ({ actions }) => ({
        actions: [...actions, action('re_expected', { verdict: 'explained' })],
        deliveries: [delivery({ delivery_id: 'dlv_alr_incident.resolved_re_stranger' })],
        incidents: [{ incident_id: 'inc_re_stranger', state: 'resolved' }],
      })),
    )
  }
  expect(resolvedWith({ supersedes: 'alr_incident.opened_re_stranger' })).toEqual([])
  for (const property of ['unexplained-changes-alert', 'expected-changes-are-capped'])
    expect(resolvedWith({})).toContainEqual(expect.stringContaining(property))
})

test('an end by dunning may alert only if ingress got the late payment after its second look', () => {
  const endedAfter = (atMs: number) => {
    const run = rightRun()
    run.truth.deeds[0] = deed('re_stranger', { hasVerdict: false, mustAlert: false })
    run.truth.accepted.push({ connectionId: 'con_1', eventId: 'evt_1', atMs, latePaymentOf: 're_stranger' })
    return judged(run)
  }
  expect(endedAfter(T0 + MINUTE + 1)).toEqual([])
  expect(endedAfter(T0 + MINUTE)).toEqual([expect.stringContaining('explained-changes-are-silent')])
})

test('a refund whose notification was lost is explained by its operation, unless only a total proves it', () => {
  const operation = {
    reason: 'an operation',
    explains: true,
    begins: { fromMs: T0 + 2 * MINUTE, toMs: T0 + 2 * MINUTE },
  }
  const lost = { reason: 'lost', explains: false, begins: { fromMs: T0 }, mayHide: true } as const
  const alertedAs = (ref: string | null) => {
    const run = rightRun()
    run.truth.deeds[0] = deed('re_stranger', { names: ['re_stranger', '100 of pi_1'], grounds: [operation, lost] })
    run.truth.received.splice(0, 1, received(alert('incident.opened', ref)))
    return judged(run).filter(fault => fault.startsWith('explanations-resolve'))
  }
  expect(alertedAs('re_stranger')).toHaveLength(1)
  expect(alertedAs(null)).toEqual([])
})

describe('a refund through the gateway, reported with the id of the biller', () => {
  const BILLER = ['subscription']
  const GATEWAY = ['processor']
  const faultsOf = (
    openings: readonly { readonly ref: string | null; readonly shownBy: readonly string[] }[],
    {
      isReported = false,
      open = 1,
      faultsEndedMs = T0,
      grounds: more = [] as Ground[],
      kinds = [...BILLER, ...GATEWAY],
    } = {},
  ) => {
    const { truth, evidence } = rightRun()
    const begins = { fromMs: T0, toMs: T0 }
    const accounts = kinds.map(kind => ({ projectId: OWN, kind, grounds: [] }))
    const grounds = isReported ? [{ reason: 'an operation', explains: false, begins }] : []
    truth.deeds.push(
      deed('txn_1', { names: ['txn_1', 're_1', '100 of pi_1'], accounts, grounds: [...grounds, ...more] }),
    )
    for (const { ref, shownBy } of openings) truth.received.push(received(alert('incident.opened', ref, { shownBy })))
    const run = withLists(
      { truth, evidence, terms: { ...TERMS, faultsEndedMs } },
      ({ actions, incidents, deliveries }) => ({
        actions: [...actions, action('txn_1')],
        deliveries: [
          ...deliveries,
          ...openings.map(({ ref }) => delivery({ delivery_id: `dlv_alr_incident.opened_${ref}` })),
        ],
        incidents: [
          ...incidents,
          ...openings.map(({ ref }, index) => ({
            incident_id: `inc_${ref}`,
            state: index < open ? 'open' : 'resolved',
          })),
        ],
      }),
    )
    return judged(run).map(fault => fault.slice(0, fault.indexOf(':')))
  }
  const apart = [
    { ref: 'txn_1', shownBy: BILLER },
    { ref: 're_1', shownBy: GATEWAY },
  ]

  test('may alert at both accounts while nothing says that they show one refund', () => {
    expect(faultsOf(apart)).toEqual([])
    expect(faultsOf([{ ref: 're_1', shownBy: GATEWAY }], { isReported: true })).toEqual([])
  })

  test('may alert at the account whose id the operation names, if only the total of the charge shows it', () => {
    const reported = { isReported: true, kinds: [...GATEWAY, ...BILLER] }
    expect(faultsOf([{ ref: null, shownBy: GATEWAY }], reported)).toEqual([])
    expect(faultsOf([{ ref: 're_1', shownBy: GATEWAY }], reported)).toContain('explained-changes-are-silent')
  })

  test('is explained by its operation, unless one account may never have shown it', () => {
    const operation = { reason: 'an operation', explains: true, begins: { fromMs: T0, toMs: T0 } }
    const hidden = {
      reason: 'older than its connection',
      explains: false,
      begins: { fromMs: T0 },
      mayHide: true,
    } as const
    const opening = [{ ref: 're_1', shownBy: GATEWAY }]
    expect(faultsOf(opening, { grounds: [operation] })).toContain('explanations-resolve')
    expect(faultsOf(opening, { grounds: [operation, hidden] })).not.toContain('explanations-resolve')
  })

  test.each([
    { name: 'both incidents stay open', openings: apart, more: { open: 2 }, fault: 'one-incident-for-each-change' },
    {
      name: 'its second alert knows both accounts',
      openings: [apart[0]!, { ref: 're_1', shownBy: [...GATEWAY, ...BILLER] }],
      more: {},
      fault: 'one-incident-for-each-change',
    },
    {
      name: 'nothing was broken',
      openings: apart,
      more: { faultsEndedMs: T0 - 5 * MINUTE },
      fault: 'one-incident-for-each-change',
    },
    {
      name: 'the account of its report alerts',
      openings: [apart[0]!],
      more: { isReported: true },
      fault: 'explained-changes-are-silent',
    },
    {
      name: 'the alert of the other account knows both',
      openings: [{ ref: 're_1', shownBy: [...GATEWAY, ...BILLER] }],
      more: { isReported: true },
      fault: 'explained-changes-are-silent',
    },
  ])('is wrong if $name', ({ openings, more, fault }) => {
    expect(faultsOf(openings, more)).toContain(fault)
  })
})
