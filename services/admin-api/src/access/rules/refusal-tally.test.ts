import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Refusal, RefusalTally, type RefusedActor } from './refusal-tally.ts'

const MINUTE = 60_000
let rows = 0
const refusal = (actor: RefusedActor, more: Partial<Refusal> = {}): Refusal => ({
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
const key = (keyId: string) => ({ kind: 'key', keyId }) as const

describe('refusals', () => {
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
          for (const row of tally.unstored()) {
            stored.set(row._id, row.count ?? 0)
            tally.markStored(row)
          }
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
        expect(stored.size).toBeLessThanOrEqual(4 * (20 + 500 + 1))
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
    for (let at = 0; at < 3_000; at++) tally.add(refusal(key(`key_${at}`), { atMs: Math.floor(at / 400) * MINUTE }))
    const held = tally.unstored()
    expect(held.length).toBeLessThan(2_010)
    expect(held.reduce((sum, row) => sum + (row.count ?? 0), 0)).toBe(3_000)
  })

  test('that arrive while their row is being stored are stored the next time', () => {
    const tally = new RefusalTally()
    tally.add(refusal(key('key_1')))
    const [row] = tally.unstored()
    tally.add(refusal(key('key_1')))
    if (row !== undefined) tally.markStored(row)
    expect(tally.unstored()).toMatchObject([{ count: 2 }])
  })
})
