import { createHash } from 'node:crypto'
import { type AuditDocument, deterministicId } from '@backstop/contracts'
import { EMPTY_CHAIN, endAfter, linkRowByHash } from '@backstop/kit/audit'
import { unavailable } from '@backstop/kit/errors'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chainRows, ROWS_AT_ONCE } from '../src/resources/audit/chain-rows.ts'
import { markUnchained } from '../src/resources/audit/walk-chain.ts'
import { createMongoStores } from '../src/store/stores.ts'
import { type AuditDatabase, boxWith, makeRow, openAuditDatabase } from './audit-database.ts'

let db: AuditDatabase
beforeAll(async () => {
  db = await openAuditDatabase()
})
beforeEach(() => db.empty())
afterAll(() => db.close())

const DAY_MS = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)
const intact = { state: 'intact', faults: [], broken: null }

/** Rows that a release before 0.3.0 linked, and its head. */
async function putHashedChain(count: number): Promise<void> {
  let end = EMPTY_CHAIN
  const rows: AuditDocument[] = []
  for (let at = 0; at < count; at++) {
    const row = linkRowByHash(makeRow({ at: daysAgo(10) }), end)
    rows.push(row)
    end = endAfter(row)
  }
  await db.audit.insertMany(rows)
  await db.chain.insertOne({ _id: 'head', sequence: end.sequence, hash: end.hash })
}

describe('an honest history is intact', () => {
  test('without any row, before and after the first start', async () => {
    const process = db.process()
    expect(await process.verify()).toMatchObject({ ...intact, head: null, verified: 0 })
    await process.chain()
    expect(await process.verify()).toMatchObject({ ...intact, head: null, verified: 0 })
  })

  test('with several processes that write and chain at the same time, more rows than one page', async () => {
    const processes = Array.from({ length: 4 }, () => db.process())
    await Promise.all(
      processes.map(async process => {
        for (let round = 0; round < 5; round++) {
          await process.write(...Array.from({ length: 40 }, () => ({})))
          await process.chain()
        }
      }),
    )
    await processes[0]?.chain()
    for (const process of [...processes, db.process()]) {
      expect(await process.verify()).toMatchObject({ ...intact, verified: 800, first_sequence: 1, next_sequence: null })
    }
  })

  test('after a process was killed between a change and its chaining, or in the middle of a step', async () => {
    const killed = db.process()
    await killed.write({}, {}, {})
    const raw = createMongoStores(db.mongo.db)
    const dying: typeof raw.transaction = write =>
      raw.transaction(async collections => {
        await write(collections)
        throw unavailable('MongoDB', undefined)
      })
    const step = { keys: killed.keys, seen: undefined, now: new Date(), isComplete: true }
    await expect(chainRows({ stores: { transaction: dying }, ...step })).rejects.toThrow()
    const next = db.process()
    expect(await next.verify()).toMatchObject(intact)
    await next.chain()
    expect(await next.verify()).toMatchObject({ ...intact, verified: 3 })
  })

  test('after the oldest rows expired, one by one, also after years without a change', async () => {
    const process = db.process()
    await process.write({ at: daysAgo(450) }, { at: daysAgo(400.1) })
    await process.chain()
    // Written late: it expires before the row that is below it in the chain.
    await process.write({ at: daysAgo(400.5) }, { at: daysAgo(20) }, {})
    await process.chain()
    for (const expired of [1, 3, 2]) {
      await db.audit.deleteOne({ sequence: expired })
      expect(await process.verify()).toMatchObject(intact)
    }
    expect(await process.verify()).toMatchObject({ first_sequence: 4, verified: 2 })
    const later = new Date(Date.now() + 500 * DAY_MS)
    await db.audit.deleteMany({})
    expect(await process.verify({ now: later })).toMatchObject({ ...intact, verified: 0 })
  })

  test('after the keys were rotated, and the old key was removed', async () => {
    const before = db.process(boxWith(1))
    await before.write({}, {})
    await before.chain()
    const between = db.process(boxWith(1, 2))
    await between.write({})
    await between.chain()
    expect(await between.verify()).toMatchObject({ ...intact, verified: 3 })
    const both = db.process(boxWith(2, 1))
    await both.write({})
    await before.write({})
    await both.chain()
    expect(await both.verify()).toMatchObject({ ...intact, verified: 5 })
    const after = db.process(boxWith(2))
    await after.write({})
    await after.chain()
    expect(await after.verify()).toMatchObject({ ...intact, verified: 6, unsigned: 0 })
    const early = db.process(boxWith(3))
    expect((await early.verify()).faults).toMatchObject([{ reason: 'key_unknown' }])
    expect(await early.chain()).toEqual({ kind: 'key_unknown', linked: 0 })
  })

  test('after an update from 0.2.0, of whose rows it says until where they are only hashed', async () => {
    await putHashedChain(5)
    const waiting = makeRow()
    await db.audit.insertOne(waiting)
    const process = db.process()
    expect(await process.verify()).toMatchObject({ ...intact, hashed_until: 5 })
    const step = { stores: createMongoStores(db.mongo.db), keys: process.keys, seen: undefined, now: new Date() }
    expect(await chainRows({ ...step, isComplete: false })).toEqual({ kind: 'unsigned', linked: 0 })
    await process.chain()
    await process.write({}, {})
    // A process of the release before runs for a while.
    await db.audit.insertOne(makeRow())
    await process.chain()
    expect(await process.verify()).toMatchObject({ ...intact, verified: 9, hashed_until: 6, unsigned: 1 })
    expect(await db.process().verify()).toMatchObject({ ...intact, verified: 9, hashed_until: 6, unsigned: 1 })
    await db.audit.updateOne({ sequence: 3 }, { $set: { target: 'x' } })
    expect((await process.verify()).faults).toMatchObject([{ reason: 'row_changed', sequence: 3 }])
  })

  test('after an update from 0.1.0, which had no chain', async () => {
    const { unchained: _, ...old } = makeRow({ at: daysAgo(3) })
    await db.audit.insertMany([old, { ...old, _id: 'aud_2' }])
    const process = db.process()
    expect(await markUnchained(process.stores, () => false)).toBe(true)
    await process.chain()
    await process.write({})
    await process.chain()
    expect(await process.verify()).toMatchObject({ ...intact, verified: 3, hashed_until: 2, unsigned: 0 })
  })

  test('with values that MongoDB stores in another form', async () => {
    const process = db.process()
    const odd = { lone: '\ud800 \u0000 €', none: undefined, empty: null, '\ud800': [undefined, -0, 1e300, 2 ** 53] }
    await process.write({ target: '\udc00', changes: [{ resource: 'r', field: 'f', from: undefined, to: odd }] })
    await process.chain()
    expect(await process.verify()).toMatchObject({ ...intact, verified: 1, unsigned: 0 })
  })

  test('with rows of refusals, which join after their minute and keep no other row waiting', async () => {
    const process = db.process()
    const refusals = Array.from({ length: 250 }, (_, at) =>
      makeRow({ _id: deterministicId('audit', String(at)), count: 1 }),
    )
    await process.stores.transaction(({ audit }) => audit.putAll(refusals))
    await process.write({})
    await process.chain()
    expect(await process.verify()).toMatchObject({ ...intact, verified: 1 })
    await process.stores.transaction(({ audit }) => audit.putAll(refusals.map(row => ({ ...row, count: 2 }))))
    const later = new Date(Date.now() + 91_000)
    for (let at = 0; at < refusals.length; at += ROWS_AT_ONCE) await process.chain(later)
    expect(await process.verify()).toMatchObject({ ...intact, verified: 251, unsigned: 0 })
  })

  test('with a head that was kept before, and one whose row has expired', async () => {
    const process = db.process()
    await process.write({ at: daysAgo(401) }, {})
    await process.chain()
    const head = `1:${(await db.audit.findOne({ sequence: 1 }))?.hash}`
    expect(await process.verify({ head })).toMatchObject(intact)
    await db.audit.deleteOne({ sequence: 1 })
    expect(await process.verify({ head })).toMatchObject(intact)
    const other = `2:${createHash('sha256').update('x').digest('hex')}`
    expect((await process.verify({ head: other })).faults).toMatchObject([{ reason: 'head_differs', sequence: 2 }])
    expect((await process.verify({ head: other.replace('2', '9') })).faults).toMatchObject([
      { reason: 'head_set_back', sequence: 9 },
    ])
  })
})
