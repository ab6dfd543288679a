import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CountedRefusal, RefusalTally, type RefusedActor } from './refusal-tally.ts'

const MINUTE = 60_000
let rows = 0
const refusal = (actor: RefusedActor, more: Partial<CountedRefusal> = {}): CountedRefusal => ({
  actor,
  code: 'unauthenticated',
  operation: 'listProjects',
  projectId: null,
  requestId: 'req_1',
  address: '192.0.2.1',
  atMs: 10 * MINUTE,
  rowId: `aud_${rows++}`,
  ...more,
})
const stranger = (network: string, keyHint: string | null = null) => ({ kind: 'stranger', network, keyHint }) as const
/** A key that is known, but not accepted, for example because it is revoked. */
const key = (keyId: string) => ({ kind: 'key', id: keyId, name: null, isAuthenticated: false }) as const
const caller = (keyId: string) => ({ ...key(keyId), isAuthenticated: true }) as const

describe('refusals of an authenticated caller', () => {
  test('each have a row with their request, address and time, although minute and code are the same', () => {
    const tally = new RefusalTally()
    const first = { code: 'forbidden', projectId: 'prj_1', rowId: 'aud_1', requestId: 'req_1' } as const
    tally.add(refusal(caller('key_1'), first))
    const second = { rowId: 'aud_2', requestId: 'req_2', operation: 'makeProject', address: '192.0.2.9' }
    tally.add(refusal(caller('key_1'), { ...first, ...second, atMs: 10 * MINUTE + 1 }))
    expect(tally.unstored()).toMatchObject([
      { _id: 'aud_1', count: 1, request_id: 'req_1', address: '192.0.2.1', target: 'listProjects' },
      {
        ...{ _id: 'aud_2', count: 1, request_id: 'req_2', address: '192.0.2.9', target: 'makeProject' },
        ...{ at: new Date(10 * MINUTE + 1), operations: ['makeProject'], key_id: 'key_1', project_id: 'prj_1' },
      },
    ])
  })

  test('share one row for each code from the 61st of a minute on, which says how many it stands for', () => {
    const tally = new RefusalTally()
    for (let at = 0; at < 100; at++) {
      tally.add(refusal(caller('key_1'), { code: at % 2 === 0 ? 'forbidden' : 'not_found' }))
      // Storing rows must not let further rows of the same minute begin.
      tally.markStored(tally.unstored())
    }
    tally.add(refusal(caller('key_1'), { code: 'forbidden' }))
    tally.add(refusal(caller('key_2'), { code: 'forbidden' }))
    tally.add(refusal(caller('key_1'), { code: 'forbidden', atMs: 11 * MINUTE }))
    expect(tally.unstored().map(({ key_id, count, action }) => ({ key_id, count, action }))).toEqual([
      { key_id: 'key_1', count: 21, action: 'refused.forbidden' },
      { key_id: 'key_2', count: 1, action: 'refused.forbidden' },
      { key_id: 'key_1', count: 1, action: 'refused.forbidden' },
    ])
  })

  test('have rows of their own besides thousands of refusals of strangers', () => {
    const tally = new RefusalTally()
    for (let at = 0; at < 5_000; at++) tally.add(refusal(stranger('192.0.2.1', `bsk_${at}`)))
    for (let at = 0; at < 3; at++) tally.add(refusal(caller('key_1')))
    expect(tally.unstored().filter(({ key_id }) => key_id === 'key_1')).toHaveLength(3)
  })
})

describe('refusals of other callers', () => {
  test('of one actor in one minute with one code share one row with their count and last time', () => {
    const tally = new RefusalTally()
    tally.add(refusal(key('key_1'), { code: 'forbidden', projectId: 'prj_1', rowId: 'aud_first' }))
    tally.add(refusal(key('key_1'), { code: 'forbidden', operation: 'makeProject', atMs: 10 * MINUTE + 59_999 }))
    expect(tally.unstored()).toEqual([
      {
        _id: 'aud_first',
        at: new Date(10 * MINUTE),
        last_at: new Date(10 * MINUTE + 59_999),
        key_id: 'key_1',
        actor: { kind: 'key', id: 'key_1', name: null },
        key_hint: null,
        action: 'refused.forbidden',
        target: 'listProjects',
        operations: ['listProjects', 'makeProject'],
        count: 2,
        project_id: 'prj_1',
        request_id: 'req_1',
        address: '192.0.2.1',
      },
    ])
  })

  test.each([
    { name: 'another minute', second: refusal(stranger('192.0.2.1'), { atMs: 11 * MINUTE }) },
    { name: 'another code', second: refusal(stranger('192.0.2.1'), { code: 'not_found' }) },
    { name: 'another network', second: refusal(stranger('192.0.2.2')) },
    { name: 'another beginning of a key', second: refusal(stranger('192.0.2.1', 'bsk_abcd')) },
    { name: 'a key', second: refusal(key('key_1')) },
  ])('of $name are another row', ({ second }) => {
    const tally = new RefusalTally()
    tally.add(refusal(stranger('192.0.2.1')))
    tally.add(second)
    expect(tally.unstored()).toHaveLength(2)
  })

  test('are each counted once, in a limited number of rows per minute', () => {
    const actors = fc.oneof(
      fc.nat(2_000).map(at => stranger(`192.0.2.${at}`)),
      fc.nat(2_000).map(at => key(`key_${at}`)),
      fc.nat(3).map(at => caller(`key_${at}`)),
    )
    const times = fc.nat(3 * MINUTE)
    const given = fc.array(fc.record({ actor: actors, atMs: times, storesAll: fc.boolean() }), {
      maxLength: 1_500,
      size: 'max',
    })
    fc.assert(
      fc.property(given, refusals => {
        const tally = new RefusalTally()
        const stored = new Map<string, number>()
        const store = () => {
          const rows = tally.unstored()
          for (const { _id, count = 0 } of rows) stored.set(_id, count)
          tally.markStored(rows)
        }
        let nowMs = 0
        for (const { actor, atMs, storesAll } of refusals.toSorted((a, b) => a.atMs - b.atMs)) {
          nowMs = atMs
          tally.add(refusal(actor, { atMs }))
          if (storesAll) store()
          tally.evictEnded(nowMs)
        }
        store()
        tally.evictEnded(nowMs + MINUTE)
        expect([...stored.values()].reduce((sum, count) => sum + count, 0)).toBe(refusals.length)
        expect(stored.size).toBeLessThanOrEqual(4 * (20 + 500 + 1_000 + 1))
        expect(tally.unstored()).toEqual([])
      }),
      { numRuns: 30 },
    )
  })

  test('of thousands of strangers make 21 rows and leave room for rows of keys', () => {
    const tally = new RefusalTally()
    for (let at = 0; at < 5_000; at++) tally.add(refusal(stranger('192.0.2.1', `bsk_${at}`)))
    tally.add(refusal(key('key_1')))
    const unstored = tally.unstored()
    expect(unstored).toHaveLength(22)
    expect(unstored.find(({ action }) => action === 'refused.others')).toMatchObject({
      count: 4_980,
      key_id: null,
      address: null,
    })
    expect(unstored.at(-1)).toMatchObject({ key_id: 'key_1', count: 1 })
  })

  test('that cannot be stored are kept up to a limit, and counted above it', () => {
    const tally = new RefusalTally()
    for (let at = 0; at < 6_000; at++) {
      const atMs = Math.floor(at / 800) * MINUTE
      tally.add(refusal(at % 2 === 0 ? key(`key_${at}`) : caller(`key_${at % 400}`), { atMs }))
    }
    const held = tally.unstored()
    expect(held.length).toBeLessThan(2_010)
    expect(held.reduce((sum, row) => sum + (row.count ?? 0), 0)).toBe(6_000)
  })

  test('that arrive while their row is being stored are stored the next time', () => {
    const tally = new RefusalTally()
    tally.add(refusal(key('key_1')))
    const rows = tally.unstored()
    tally.add(refusal(key('key_1')))
    tally.markStored(rows)
    expect(tally.unstored()).toMatchObject([{ count: 2 }])
  })
})
