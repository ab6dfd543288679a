import { COLLECTIONS, type CollectionDefinition } from '@backstop/contracts'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { type TestStack, testStack } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { provisionCollections } from '../indexes.ts'
import { FOR_A_PERSON, ruleOf } from './duplicate-rules.ts'
import { findDuplicates, type Resolution, resolveDuplicates } from './resolve-duplicates.ts'

let stack: TestStack
let mongo: Mongo
beforeAll(async () => {
  stack = await testStack()
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'duplicates-test' })
  await provisionCollections(mongo.db, () => {})
})
afterAll(async () => {
  await mongo.stop()
  await stack.close()
})

const collection = (name: string) => mongo.db.collection<{ _id: string; [field: string]: unknown }>(name)
const at = (second: number) => new Date(Date.UTC(2026, 10, 27, 12, 0, second))

test('every unique index has a rule, or is for a person', () => {
  for (const [name, { indexes }] of Object.entries<CollectionDefinition>(COLLECTIONS)) {
    for (const { keys, options } of indexes) {
      if (!options?.unique) continue
      const fields = Object.keys(keys)
      const isForPerson = FOR_A_PERSON.has(`${name} ${fields.join(',')}`)
      expect(ruleOf(name as never, fields) !== undefined, `${name} ${fields}`).toBe(!isForPerson)
    }
  }
})

/** Two or three documents of each collection that its unique index refuses, the one that stays first. */
const CASES = {
  operations: ['op_b', 'op_a', 'op_c'].map((_id, index) => ({
    _id,
    project_id: 'prj_1',
    connection_id: 'con_1',
    idempotency_key: 'key 1',
    created_at: at(index),
  })),
  subjects: [
    { _id: 'case_2', project_id: 'prj_1', current: [{ version: 9, refs: ['r1', 'r2'], state: '{}' }] },
    { _id: 'case_1', project_id: 'prj_1', current: [{ version: 3, refs: ['r0', 'r1'], state: '{}' }] },
  ],
  storms: ['stm_b', 'stm_a'].map((_id, index) => ({
    _id,
    connection_id: 'con_1',
    state: 'open',
    began_at: at(index),
    next_look_at: at(9),
  })),
  people: ['per_b', 'per_a'].map((_id, index) => ({ _id, issuer: 'https://id', subject: 's', created_at: at(index) })),
  api_keys: ['key_b', 'key_a'].map((_id, index) => ({ _id, hash: 'h', created_at: at(index) })),
  sessions: ['ses_b', 'ses_a'].map((_id, index) => ({ _id, hash: 'h', created_at: at(index), expires_at: at(50) })),
} as const

test('duplicates of every unique index are listed, resolved without a deletion, and audited; then the deploy job succeeds', async () => {
  for (const [name, documents] of Object.entries(CASES)) {
    await collection(name).dropIndexes()
    await collection(name).insertMany(documents as never)
  }
  // In one document the same value may occur twice.
  await collection('subjects').insertOne({ _id: 'case_9', current: [{ version: 1, refs: ['r9', 'r9'] }] })
  const job = provisionCollections(mongo.db, () => {})
  await expect(job).rejects.toMatchObject({ code: 'conflict' })
  await expect(job).rejects.toThrow(
    /operations \{"connection_id":"con_1","idempotency_key":"key 1"\}: op_a, op_b, op_c/,
  )
  await expect(job).rejects.toThrow(/duplicates-main\.ts resolves them/)

  const planned: Resolution[] = []
  await resolveDuplicates(mongo, { isDryRun: true, report: line => void planned.push(line) })
  expect(planned.map(({ keptId }) => keptId).sort()).toEqual(['case_2', 'key_b', 'op_b', 'per_b', 'ses_b', 'stm_b'])
  expect(await findDuplicates(mongo.db)).toHaveLength(6)
  expect(await collection('audit').countDocuments()).toBe(0)

  const done: Resolution[] = []
  await resolveDuplicates(mongo, { isDryRun: false, report: line => void done.push(line) })
  expect(done).toEqual(planned)
  expect(await findDuplicates(mongo.db)).toEqual([])
  await provisionCollections(mongo.db, () => {})

  for (const [name, documents] of Object.entries(CASES)) {
    const [kept] = documents
    expect(await collection(name).findOne({ _id: kept._id })).toEqual(kept)
    expect(await collection(name).countDocuments({ _id: { $in: documents.map(({ _id }) => _id) } })).toBe(
      documents.length,
    )
  }
  expect(await collection('operations').findOne({ _id: 'op_a' })).toMatchObject({ idempotency_key: null })
  expect(await collection('subjects').findOne({ _id: 'case_1' })).toMatchObject({ current: [{ refs: ['r0'] }] })
  expect(await collection('storms').findOne({ _id: 'stm_a' })).toMatchObject({ state: 'ended' })
  const rows = await collection('audit').find().toArray()
  expect(rows.map(({ target }) => target).sort()).toEqual(
    ['case_1', 'key_a', 'op_a', 'op_c', 'per_a', 'ses_a', 'stm_a'].sort(),
  )
  expect(rows.find(({ target }) => target === 'op_a')).toMatchObject({
    action: 'operations.resolve_duplicate',
    project_id: 'prj_1',
    unchained: true,
    changes: [{ resource: 'op_a', field: 'idempotency_key', from: { value: 'key 1', kept_by: 'op_b' }, to: null }],
  })
})

test('duplicates that a person must judge are listed and not changed', async () => {
  await collection('audit').deleteMany({})
  await collection('audit').dropIndexes()
  await collection('audit').insertMany(['aud_1', 'aud_2'].map(_id => ({ _id, sequence: 1, at: at(0) })))
  const done: Resolution[] = []
  await resolveDuplicates(mongo, { isDryRun: false, report: line => void done.push(line) })
  expect(done).toMatchObject([{ keptId: undefined, otherIds: ['aud_1', 'aud_2'] }])
  expect(await collection('audit').countDocuments({ sequence: 1 })).toBe(2)
})
