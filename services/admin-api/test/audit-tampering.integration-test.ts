import type { AuditChainDocument, AuditDocument, AuditFaultReason } from '@backstop/contracts'
import { EMPTY_CHAIN, endAfter, linkRow, linkRowByHash, signHead } from '@backstop/kit/audit'
import { Decimal128 } from 'mongodb'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type AuditDatabase, type AuditProcess, boxOf, makeRow, openAuditDatabase } from './audit-database.ts'

let db: AuditDatabase
/** The process that wrote the rows, and still runs. */
let running: AuditProcess
let restore: () => Promise<void>
/** The head that the log showed before the tampering. */
let logged: string
/** The rows 1 to 8 of the chain. */
let rows: AuditDocument[]
/** The head after row 4. */
let oldHead: AuditChainDocument
/** Keys of the same id that are not those of the product. */
const thief = boxOf('k1', 9)
let seen: AuditChainDocument | undefined

beforeAll(async () => {
  db = await openAuditDatabase()
  running = db.process()
  const made = { _id: 'prj_1', created_at: new Date(Date.now() - 3_600_000) }
  await db.mongo.db.collection<typeof made>('projects').insertOne(made)
  await running.write({ action: 'project.create', at: made.created_at })
  await running.chain()
  await running.write({}, {}, {})
  await running.chain()
  oldHead = running.seen as AuditChainDocument
  await running.write({}, {}, {}, {})
  await running.chain()
  rows = await db.audit
    .find({ sequence: { $exists: true } })
    .sort({ sequence: 1 })
    .toArray()
  logged = `${running.seen?.sequence}:${running.seen?.hash}`
  seen = running.seen
  restore = await db.remember()
})
afterEach(async () => {
  await restore()
  running.seen = seen
})
afterAll(() => db.close())

const row = (sequence: number) => rows[sequence - 1] as AuditDocument
const change = (sequence: number, fields: object) => db.audit.updateOne({ sequence }, { $set: fields })
const put = (one: AuditDocument) => db.audit.replaceOne({ _id: one._id }, one, { upsert: true })
/** Computes rows anew from a place on, as a program can do without the keys of the product. */
async function computeAnew(from: number, edit: (one: AuditDocument) => AuditDocument, head: 'by-hash' | 'by-thief') {
  let end = from === 1 ? EMPTY_CHAIN : endAfter(row(from - 1))
  const anew = rows.slice(from - 1).map(one => {
    const { mac: _, chained_at: __, previous_at: ___, ...written } = edit(one)
    const linked = head === 'by-hash' ? linkRowByHash(written, end) : linkRow(edit(one), end, thief, one.at)
    end = endAfter(linked)
    return linked
  })
  await db.audit.deleteMany({ sequence: { $gte: from } })
  await db.audit.insertMany(anew)
  const { sequence, hash } = end
  const forged = head === 'by-hash' ? { sequence, hash } : signHead(end, { sequence: 1, at: row(1).at }, thief)
  await db.chain.replaceOne({ _id: 'head' }, forged as AuditChainDocument)
}
const stolen = (sequence: number) => (one: AuditDocument) =>
  one.sequence === sequence ? { ...one, target: 'somebody else' } : one

interface Tampering {
  name: string
  tamper: () => Promise<unknown>
  found: AuditFaultReason
  /** The row that the fault names. */
  at?: number | null
  /** Only a process that has seen the head, or a copy of the head, can know. */
  onlyByHead?: true
}

const TAMPERINGS: Tampering[] = [
  { name: 'a field of a row changed', tamper: () => change(3, { target: 'x' }), found: 'row_changed', at: 3 },
  { name: 'the time of a row changed', tamper: () => change(3, { at: new Date(0) }), found: 'row_changed', at: 3 },
  { name: 'a field added to a row', tamper: () => change(3, { operator: 'eve' }), found: 'row_changed', at: 3 },
  {
    name: 'a field removed from a row',
    tamper: () => db.audit.updateOne({ sequence: 3 }, { $unset: { changes: 1 } }),
    found: 'row_changed',
    at: 3,
  },
  { name: 'the MAC of a row changed', tamper: () => change(3, { mac: row(4).mac }), found: 'row_changed', at: 3 },
  {
    name: 'a row changed with a new hash',
    tamper: () => put(linkRowByHash({ ...row(3), target: 'x' }, endAfter(row(2)))),
    found: 'mac_wrong',
    at: 3,
  },
  {
    name: 'the newest row changed with a new hash, and the head too',
    async tamper() {
      const anew = linkRowByHash({ ...row(8), target: 'x' }, endAfter(row(7)))
      await put(anew)
      await db.chain.updateOne({ _id: 'head' }, { $set: { hash: anew.hash ?? '' } })
    },
    found: 'head_changed',
    at: 8,
  },
  {
    name: 'a row in the middle removed',
    tamper: () => db.audit.deleteOne({ sequence: 3 }),
    found: 'row_missing',
    at: 3,
  },
  { name: 'the first row removed', tamper: () => db.audit.deleteOne({ sequence: 1 }), found: 'row_missing', at: 1 },
  {
    name: 'all rows up to a row removed',
    tamper: () => db.audit.deleteMany({ sequence: { $lte: 5 } }),
    found: 'row_missing',
    at: 5,
  },
  {
    name: 'all rows but the newest removed',
    tamper: () => db.audit.deleteMany({ sequence: { $lte: 7 } }),
    found: 'row_missing',
    at: 7,
  },
  { name: 'the newest row removed', tamper: () => db.audit.deleteOne({ sequence: 8 }), found: 'row_missing', at: 8 },
  {
    name: 'the newest rows removed and the head kept',
    tamper: () => db.audit.deleteMany({ sequence: { $gt: 5 } }),
    found: 'row_missing',
    at: 8,
  },
  { name: 'all rows removed and the head kept', tamper: () => db.audit.deleteMany({}), found: 'row_missing', at: 8 },
  {
    name: 'all rows and the head removed',
    tamper: () => Promise.all([db.audit.deleteMany({}), db.chain.deleteMany({})]),
    found: 'head_missing',
  },
  { name: 'the head removed', tamper: () => db.chain.deleteMany({}), found: 'head_missing' },
  {
    name: 'the head and the newest rows removed',
    tamper: () => Promise.all([db.audit.deleteMany({ sequence: { $gt: 5 } }), db.chain.deleteMany({})]),
    found: 'head_missing',
  },
  {
    name: 'the head set back, and the newest rows removed',
    async tamper() {
      await db.audit.deleteMany({ sequence: { $gt: 4 } })
      await db.chain.replaceOne({ _id: 'head' }, oldHead)
    },
    found: 'head_set_back',
    at: 8,
    onlyByHead: true,
  },
  {
    name: 'the head set back, and the rows kept',
    tamper: () => db.chain.replaceOne({ _id: 'head' }, oldHead),
    found: 'head_set_back',
    at: 8,
  },
  {
    name: 'the MAC of the head removed',
    tamper: () => db.chain.updateOne({ _id: 'head' }, { $unset: { mac: 1 } }),
    found: 'head_changed',
    at: 8,
  },
  {
    name: 'the MAC of the head replaced by a number',
    tamper: () => db.chain.updateOne({ _id: 'head' }, { $set: { mac: 5 as never } }),
    found: 'head_changed',
    at: 8,
  },
  {
    name: 'the beginning of signed rows moved up in the head',
    tamper: () => db.chain.updateOne({ _id: 'head' }, { $set: { 'signed_from.sequence': 9 } }),
    found: 'head_changed',
    at: 8,
  },
  {
    name: 'two rows exchanged',
    async tamper() {
      await db.audit.deleteMany({ sequence: { $in: [3, 4] } })
      await db.audit.insertMany([
        { ...row(3), sequence: 4 },
        { ...row(4), sequence: 3 },
      ])
    },
    found: 'row_changed',
    at: 4,
  },
  {
    name: 'a row and all above it computed anew with another key',
    tamper: () => computeAnew(3, stolen(3), 'by-thief'),
    found: 'head_changed',
    at: 8,
  },
  {
    name: 'all rows computed anew without a key, as a release before 0.3.0 wrote them',
    tamper: () => computeAnew(1, stolen(3), 'by-hash'),
    found: 'head_changed',
    at: 8,
    onlyByHead: true,
  },
  {
    name: 'the newest rows computed anew without a key',
    tamper: () => computeAnew(6, stolen(7), 'by-hash'),
    found: 'head_changed',
    at: 8,
  },
  {
    name: 'a row added outside of the chain',
    tamper: () => put(makeRow({ unchained: false })),
    found: 'row_outside',
    at: null,
  },
  {
    name: 'a row added that is not marked as waiting',
    tamper: () => put(makeRow({ unchained: undefined as never })),
    found: 'row_outside',
    at: null,
  },
  {
    name: 'a row added with an old time',
    tamper: () => put(makeRow({ at: new Date(0), unchained: false })),
    found: 'row_outside',
    at: null,
  },
  {
    name: 'a row added without a time',
    tamper: () => put(makeRow({ at: 'now' as never, unchained: false })),
    found: 'row_outside',
    at: null,
  },
  {
    name: 'a row added that waits for the chain with an impossible count, so that it never joins',
    tamper: () => put(makeRow({ count: 0 })),
    found: 'row_outside',
    at: null,
  },
  {
    name: 'a row added that waits for the chain until next year',
    tamper: () => put(makeRow({ count: 1, at: new Date(Date.now() + 365 * 86_400_000) })),
    found: 'row_outside',
    at: null,
  },
  {
    name: 'a row added that waits for the chain with a list of times',
    tamper: () => put(makeRow({ count: 0, at: [new Date()] as never })),
    found: 'row_outside',
    at: null,
  },
  {
    name: 'a row added with a place after the end',
    tamper: () => put({ ...makeRow({ unchained: false }), sequence: 12 }),
    found: 'row_outside',
    at: 12,
  },
  {
    name: 'a row added with the next place',
    tamper: () => put(linkRow(makeRow(), endAfter(row(8)), thief, new Date())),
    found: 'row_outside',
    at: 9,
  },
  {
    name: 'a row added between two places',
    tamper: () => put({ ...makeRow({ unchained: false }), sequence: 3.5 }),
    found: 'row_outside',
    at: null,
  },
  {
    name: 'a row added with a place that is no number',
    tamper: () => put({ ...makeRow({ unchained: false }), sequence: Decimal128.fromString('9') as never }),
    found: 'row_outside',
    at: null,
  },
]

const faultsOf = async (process: AuditProcess, query = {}) => (await process.verify(query)).faults

describe('tampering', () => {
  test('is not reported before it happens', async () => {
    expect(await running.verify({ head: logged })).toMatchObject({ state: 'intact', verified: 8, hashed_until: null })
    expect(await db.process().verify({ head: logged })).toMatchObject({ state: 'intact', faults: [] })
  })

  test.each(TAMPERINGS)('is found, with the row and the kind: $name', async ({ tamper, found, at, onlyByHead }) => {
    await tamper()
    const expected = expect.objectContaining({ reason: found, ...(at === undefined ? {} : { sequence: at }) })
    expect(await faultsOf(running)).toContainEqual(expected)
    const [fault] = await faultsOf(running)
    expect(fault?.text).toMatch(/row|head/i)
    const restarted = db.process()
    if (!onlyByHead) {
      expect((await restarted.verify()).state, 'a process that was started afterwards').toBe('broken')
      // The chain goes on, and what was found stays found.
      await restarted.write({})
      await restarted.chain()
      expect((await restarted.verify()).state, 'after more rows').toBe('broken')
      return
    }
    expect((await restarted.verify({ head: logged })).state, 'with the logged head').toBe('broken')
    await restarted.write({}, {}, {}, {}, {}, {})
    await restarted.chain()
    expect((await restarted.verify({ head: logged })).state, 'with the logged head, after more rows').toBe('broken')
  })

  test('of a row that waits for the chain is found when it joins', async () => {
    await running.write({ target: 'prj_2' })
    await db.audit.updateOne({ target: 'prj_2', unchained: true }, { $set: { target: 'prj_3' } })
    const late = { now: new Date(Date.now() + 2 * 86_400_000) }
    await running.chain(late.now)
    expect((await running.verify(late)).faults).toMatchObject([{ reason: 'row_unsigned', sequence: 9 }])
  })

  test('by adding a row that waits for the chain is found when it joins, also on the first day', async () => {
    await put(makeRow({ action: 'approval.approve' }))
    const process = db.process()
    await process.chain()
    const [fault] = (await process.verify()).faults
    expect(fault).toMatchObject({ reason: 'row_unsigned', sequence: 9 })
    expect(fault?.text).toContain('approval.approve')
  })

  test('by adding rows of almost 16 MiB neither stops the chain nor stays unseen', async () => {
    const large = { changes: [{ resource: 'prj_1', field: 'name', from: null, to: 'x'.repeat(16 * 1_048_576 - 700) }] }
    await put(makeRow({ ...large, at: new Date(0) }))
    await running.write({ target: 'prj_now' })
    await running.chain()
    expect(await db.audit.findOne({ target: 'prj_now' })).toMatchObject({ sequence: 9 })
    expect((await running.verify()).faults).toMatchObject([{ reason: 'row_outside' }])
  })

  test.each([5, null, {}, ['x']])('by adding a row with the MAC %j does not stop the chain', async mac => {
    await put(makeRow({ at: new Date(0), mac: mac as never }))
    const [written] = await running.write({ target: 'prj_now' })
    await running.chain()
    await db.audit.deleteOne({ _id: written?._id ?? '' })
    expect((await running.verify()).faults).toMatchObject([
      { reason: 'row_missing', sequence: 10 },
      { reason: 'row_unsigned', sequence: 9 },
    ])
  })

  test('by removing a row within seconds after it was written is found, because it has joined by then', async () => {
    await running.write({ target: 'prj_now' })
    await db.process().chain()
    await db.audit.deleteOne({ target: 'prj_now' })
    expect((await running.verify()).faults).toMatchObject([{ reason: 'row_missing', sequence: 9 }])
  })
})
