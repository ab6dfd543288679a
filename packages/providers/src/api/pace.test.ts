import { createManualClock } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { Pace, type ReadAdmission } from './pace.ts'

const MINUTE = 60_000
const LIMITS = { requestsPerMinute: 60, concurrent: 2 }

function setUp(limits = LIMITS) {
  const clock = createManualClock()
  const pace = new Pace(limits, clock)
  const admitted: { at: number; name: string; leave(): void }[] = []
  const answers = new Map<string, ReadAdmission>()
  const start = clock.now()
  const enter = (name: string, withinMs = 60 * MINUTE, signal?: AbortSignal) => {
    void pace.enter(clock.now() + withinMs, signal).then(admission => {
      answers.set(name, admission)
      if (admission.kind === 'admitted') admitted.push({ at: clock.now() - start, name, leave: admission.leave })
    })
  }
  return { clock, pace, admitted, answers, enter }
}

describe('the pace of one reader', () => {
  test('admits requests in their order, and in any minute no more than the limit plus the bucket', async () => {
    const { clock, admitted, enter } = setUp()
    for (let index = 0; index < 300; index++) enter(String(index))
    for (let left = 0; left < 300; left++) {
      while (admitted[left] === undefined) await clock.advance(500)
      admitted[left]?.leave()
      await clock.settle()
    }
    expect(admitted.map(({ name }) => name)).toEqual(Array.from({ length: 300 }, (_, index) => String(index)))
    const times = admitted.map(({ at }) => at)
    const most = Math.max(...times.map(from => times.filter(at => at >= from && at < from + MINUTE).length))
    expect(most).toBeGreaterThanOrEqual(60)
    expect(most).toBeLessThanOrEqual(60 + 2 * LIMITS.concurrent)
  })

  test('keeps the limit of requests in flight', async () => {
    const { clock, admitted, enter } = setUp()
    for (const name of ['a', 'b', 'c', 'd']) enter(name)
    await clock.advance(10 * MINUTE)
    expect(admitted.map(({ name }) => name)).toEqual(['a', 'b'])
    admitted[0]?.leave()
    await clock.settle()
    expect(admitted.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  test('admits no request during a pause', async () => {
    const { clock, pace, admitted, enter } = setUp()
    pace.pauseFor(5_000)
    enter('a')
    await clock.advance(4_999)
    expect(admitted).toEqual([])
    await clock.advance(1)
    expect(admitted).toMatchObject([{ name: 'a', at: 5_000 }])
  })

  test('answers too_late at once, with the wait, when the pause ends after the deadline', async () => {
    const { clock, pace, answers, enter } = setUp()
    pace.pauseFor(30_000)
    enter('a', 10_000)
    enter('b', 40_000)
    await clock.settle()
    expect(answers.get('a')).toEqual({ kind: 'too_late', waitMs: 30_000 })
    await clock.advance(30_000)
    expect(answers.get('b')).toMatchObject({ kind: 'admitted' })
  })

  test('answers too_late at the deadline of a waiting request, and admits the next request', async () => {
    const { clock, admitted, answers, enter } = setUp()
    for (const name of ['a', 'b']) enter(name)
    enter('c', 1_000)
    enter('d')
    await clock.advance(1_000)
    expect(answers.get('c')).toMatchObject({ kind: 'too_late' })
    admitted[0]?.leave()
    await clock.settle()
    expect(answers.get('d')).toMatchObject({ kind: 'admitted' })
  })

  test('drops a request that is aborted before or while it waits', async () => {
    const { clock, admitted, answers, enter } = setUp()
    const stopping = new AbortController()
    for (const name of ['a', 'b']) enter(name)
    enter('c', MINUTE, stopping.signal)
    enter('d')
    await clock.settle()
    stopping.abort()
    enter('e', MINUTE, stopping.signal)
    await clock.settle()
    expect([answers.get('c'), answers.get('e')]).toEqual([{ kind: 'aborted' }, { kind: 'aborted' }])
    admitted[0]?.leave()
    await clock.settle()
    expect(answers.get('d')).toMatchObject({ kind: 'admitted' })
  })
})
