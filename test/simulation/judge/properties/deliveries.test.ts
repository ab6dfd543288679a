import { describe, expect, test } from 'vitest'
import type { Truth } from '../../actors/truth.ts'
import type { Terms } from '../evidence.ts'
import {
  alert,
  delivery,
  iso,
  judged,
  MINUTE,
  opened,
  received,
  rightRun,
  T0,
  TERMS,
  withLists,
  withReceived,
} from '../right-run.ts'

test('an incident that opens as its silence ends may be reported as resolved only', () => {
  const endedAt = (atMs: number) => {
    const run = rightRun()
    const data = {
      incident: { incident_id: 'inc_re_stranger', code: 'UNEXPECTED_ACTION', opened_at: iso(T0 + MINUTE) },
    }
    run.truth.received.splice(0, 1, received(alert('incident.resolved', 're_stranger', { data })))
    const ends = { fromMs: atMs - 50, toMs: atMs + 50 }
    const silence = { reason: 'a silence', explains: false, begins: { fromMs: T0, toMs: T0 }, ends }
    run.truth.deeds[0]?.accounts[0]?.grounds.push(silence)
    return judged(run).filter(fault => fault.startsWith('opened-before-resolved'))
  }
  expect(endedAt(T0 + MINUTE)).toEqual([])
  expect(endedAt(T0 + 2 * MINUTE)).toHaveLength(1)
})

test('a channel that was made after an incident opened may be notified of its resolution only', () => {
  const madeAt = (atMs: number) => {
    const run = rightRun()
    const data = {
      incident: { incident_id: 'inc_re_stranger', code: 'UNEXPECTED_ACTION', opened_at: iso(T0 + MINUTE) },
    }
    run.truth.received.splice(0, 1, received(alert('incident.resolved', 're_stranger', { data })))
    run.truth.channels.splice(0, 1, { ...run.truth.channels[0]!, begins: { fromMs: atMs - 50, toMs: atMs } })
    return judged(run).filter(fault => fault.startsWith('opened-before-resolved'))
  }
  expect(madeAt(T0 + 2 * MINUTE)).toEqual([])
  expect(madeAt(T0)).toHaveLength(1)
})

test('an alert about a connection has no action', () => {
  const data = { incident: { incident_id: 'inc_feed', code: 'FEED_SILENT' }, action: null }
  const run = withReceived(rightRun(), received(alert('incident.resolved', 'con_1', { data })))
  expect(judged(run).filter(fault => fault.startsWith('opened-before-resolved'))).toHaveLength(1)
})

describe('an alert that a receiver did not get', () => {
  const retrying = delivery({ state: 'retrying', next_attempt_at: iso(T0 + 10 * MINUTE) })
  const faultsOf = (attempts: Truth['failedAttempts'], deliveries: readonly object[] = [retrying]) => {
    const run = withLists(rightRun(), () => ({ deliveries }))
    run.truth.received.splice(0)
    run.truth.failedAttempts.push(...attempts)
    return judged(run).map(fault => fault.slice(0, fault.indexOf(':')))
  }
  const failedAttempt = (ref: string) => {
    const body = opened(ref)
    return { channel: 'own.example', webhookId: `dlv_${JSON.parse(body).id}`, body }
  }

  test('is still tried if the receiver failed at it and its next attempt is after the end of the run', () => {
    expect(faultsOf([failedAttempt('re_stranger')])).toEqual([])
  })

  test('is missing if no attempt failed, if only another alert failed, and if its delivery has ended', () => {
    const missing = ['unexplained-changes-alert']
    expect(faultsOf([])).toEqual(missing)
    expect(faultsOf([failedAttempt('re_other')])).toEqual(missing)
    expect(faultsOf([failedAttempt('re_stranger')], [delivery({ state: 'dead' })])).toEqual(missing)
  })
})

test('a delivery that is listed as delivered was received', () => {
  const run = withLists(rightRun(), () => ({ deliveries: [delivery(), delivery({ delivery_id: 'dlv_never' })] }))
  expect(judged(run)).toEqual([expect.stringContaining('deliveries-are-listed: Delivery dlv_never')])
})

test('a repeat of a delivery with the same bytes is right after a lost answer, and where something may have broken', () => {
  const lost = rightRun()
  const [first] = lost.truth.received.splice(0)
  expect(judged(withReceived(lost, { ...first!, isAnswered: false }, first!))).toEqual([])
  const broken = withReceived(rightRun(), received(opened()))
  const repeatedUnder = (terms: Partial<Terms>) => judged({ ...broken, terms: { ...TERMS, mayRepeat: true, ...terms } })
  expect(repeatedUnder({ faultsEndedMs: T0 + MINUTE })).toEqual([])
  expect(repeatedUnder({ faultsEndedMs: T0 - MINUTE })).toEqual([
    expect.stringContaining('repeats-follow-lost-answers'),
  ])
})
