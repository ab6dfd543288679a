/** `backstop backup verify` over databases on a real MongoDB: an intact one, and one with each kind of damage. */
import { type AuditDocument, COLLECTIONS, type CollectionDefinition } from '@backstop/contracts'
import { EMPTY_CHAIN, endAfter, linkRow, signHead, signRow } from '@backstop/kit/audit'
import { Secret } from '@backstop/kit/config'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import { type TestStack, testStack } from '@backstop/kit/test'
import type { Document } from 'mongodb'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runCommandLine } from '../src/command-line.ts'

const KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`
const OTHER_KEYS = `k2:${Buffer.alloc(32, 8).toString('base64')}`
const OTHER_KEYS_OF_THE_SAME_ID = `k1:${Buffer.alloc(32, 8).toString('base64')}`
const NOW = new Date('2026-11-21T10:00:00.000Z')
/** The newest write: everything at NOW is old enough to be compared. */
const NEWEST = new Date(NOW.getTime() + 120_000)

let stack: TestStack
let mongo: Mongo
beforeAll(async () => {
  stack = await testStack()
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'backup-test' })
  for (const [name, { indexes }] of Object.entries<CollectionDefinition>(COLLECTIONS)) {
    await mongo.db.createCollection(name)
    for (const { keys, options } of indexes) await mongo.db.collection(name).createIndex(keys, options)
  }
})
afterAll(async () => {
  await mongo?.stop()
  await stack?.close()
})

const put = (collection: string, ...documents: Document[]) => mongo.db.collection(collection).insertMany(documents)

/** A database with one document of each kind that is checked. */
beforeEach(async () => {
  for (const name of Object.keys(COLLECTIONS)) await mongo.db.collection(name).deleteMany({})
  const place = { collection: 'connections', id: 'con_1', projectId: 'prj_1', field: 'inbound_secret' } as const
  const sealed = createSecretBox(parseKeyRing(new Secret(KEYS))).seal(new Secret('whsec_1'), place)
  const secret = { sealed, fingerprint: 'f', created_at: NOW, expires_at: null }
  await put('projects', { _id: 'prj_1' as never, name: 'Shop', created_at: NOW })
  await put('connections', {
    ...{ _id: 'con_1' as never, project_id: 'prj_1', kind: 'processor', status: 'active', created_at: NOW },
    ...{ inbound_secrets: [secret], read_key: null, deleted_at: null },
  })
  await put('actions', {
    ...{ _id: 'act_1' as never, project_id: 'prj_1', connection_id: 'con_1', incident_id: 'inc_1' },
    ...{ provider_created_at: '2026-11-21T09:00:00.000Z', first_seen: NOW, verdict: 'unexplained' },
  })
  await put('incidents', { _id: 'inc_1' as never, project_id: 'prj_1', action_id: 'act_1', state: 'open', opened: NOW })
  await put('daily_totals', {
    ...{ _id: 'con_1/2026-11-21' as never, project_id: 'prj_1', connection_id: 'con_1' },
    ...{ day: new Date('2026-11-21T00:00:00.000Z'), totals: [{ count: 1, amount: 100 }] },
  })
  await put('inbox', { _id: 'con_1/evt_1' as never, project_id: 'prj_1', processed_at: NEWEST, received_at: NEWEST })
  await put('operations', {
    ...{ _id: 'op_1' as never, project_id: 'prj_1', connection_id: 'con_1', created_at: NOW },
    budgets: [{ budget_id: 'bud_1', period_start: '2026-11-01', amount: 100, state: 'spent' }],
  })
  await put('budget_periods', { _id: 'bud_1/2026-11-01' as never, budget_id: 'bud_1', used: 100, reserved: 0 })
  await putAudit(3)
})

async function putAudit(rows: number, ring = KEYS): Promise<void> {
  const keys = createSecretBox(parseKeyRing(new Secret(ring)))
  await mongo.db.collection('audit').deleteMany({})
  await mongo.db.collection('audit_chain').deleteMany({})
  let end = EMPTY_CHAIN
  for (let at = 0; at < rows; at++) {
    const row = { _id: `aud_${at}`, at: NOW, action: 'project.create', target: `prj_${at}`, key_id: 'key_1' }
    const linked = linkRow(signRow(row as unknown as AuditDocument, keys), end, keys, NOW)
    await put('audit', linked as never)
    end = endAfter(linked)
  }
  await put('audit_chain', signHead(end, { sequence: 1, at: NOW }, keys) as never)
}

async function verify(args: readonly string[] = [], environment: Record<string, string> = {}) {
  const [out, err]: [string[], string[]] = [[], []]
  const exit = await runCommandLine(['backup', 'verify', ...args], {
    environment: { MONGO_URL: stack.mongoUrl.reveal(), MONGO_DB: stack.dbName, SECRET_KEYS: KEYS, ...environment },
    readInput: async () => '',
    folder: '/',
    out: text => out.push(text),
    err: text => err.push(text),
    isTerminal: false,
    operator: 'ada@laptop',
    now: Date.now,
  })
  return { exit, out: out.join(''), err: err.join('') }
}

test('an intact database has exit code 0, and its contents are shown', async () => {
  const { exit, out } = await verify()
  expect(out).toMatch(/ is intact\.\n/)
  expect(out).toContain('✓ secrets: secrets of connections and channels, opened with SECRET_KEYS (1)')
  expect(out).toContain('✓ audit: hash chain of the audit (3)')
  expect(out).toContain('1 projects, 1 connections')
  expect(exit).toBe(0)
})

test('--json prints each check with its faults', async () => {
  await mongo.db.collection('actions').deleteMany({})
  const { exit, out } = await verify(['--json'])
  const { state, checks } = JSON.parse(out)
  expect([exit, state]).toEqual([1, 'damaged'])
  const failed = checks.filter(({ state: result }: { state: string }) => result === 'failed')
  expect(failed).toMatchObject([
    { check: 'references', fault_count: 1, faults: ['incidents inc_1 names act_1, which is not in actions'] },
    { check: 'totals', fault_count: 1 },
  ])
})

const on = (name: string) => mongo.db.collection<Document & { _id: string }>(name)
describe('damage is found, and has exit code 1:', () => {
  test.each<{ name: string; check: string; damage: () => Promise<unknown>; says: string }>([
    {
      name: 'a missing index',
      check: 'structure',
      async damage() {
        await on('sweeps').dropIndexes()
        return () => on('sweeps').createIndex({ next_run_at: 1 })
      },
      says: 'of sweeps',
    },
    {
      name: 'a changed audit row',
      check: 'audit',
      damage: () => on('audit').updateOne({ _id: 'aud_1' }, { $set: { target: 'prj_x' } }),
      says: 'Row 2 (project.create, 2026-11-21T10:00:00.000Z) was changed',
    },
    {
      name: 'a missing audit row',
      check: 'audit',
      damage: () => on('audit').deleteOne({ _id: 'aud_1' }),
      says: 'Row 2 is missing',
    },
    {
      name: 'audit rows that are older than their head',
      check: 'audit',
      damage: () => on('audit').deleteOne({ _id: 'aud_2' }),
      says: 'Row 3 is missing',
    },
    {
      name: 'no audit rows',
      check: 'audit',
      damage: () => on('audit').deleteMany({}),
      says: 'Rows 1 to 3 are missing',
    },
    {
      name: 'a removed head of the audit',
      check: 'audit',
      damage: () => on('audit_chain').deleteMany({}),
      says: 'The head of the chain was removed',
    },
    {
      name: 'an audit that was computed anew',
      check: 'audit',
      damage: () => putAudit(3, OTHER_KEYS_OF_THE_SAME_ID),
      says: 'Row 3 (project.create, 2026-11-21T10:00:00.000Z) was recomputed without SECRET_KEYS',
    },
    {
      name: 'an audit row outside of the chain',
      check: 'audit',
      damage: () => put('audit', { _id: 'aud_x' as never, at: NOW, action: 'x', unchained: false }),
      says: 'Row aud_x (x, 2026-11-21T10:00:00.000Z) is in the audit, but no part of the chain',
    },
    {
      name: 'a missing project',
      check: 'references',
      damage: () => on('projects').deleteMany({}),
      says: 'connections con_1 names prj_1',
    },
    {
      name: 'a missing operation of a budget',
      check: 'budgets',
      damage: () => on('operations').deleteMany({}),
      says: 'bud_1/2026-11-01 has used 100',
    },
    {
      name: 'a missing action of a counted day',
      check: 'totals',
      damage: () => on('daily_totals').updateOne({ _id: 'con_1/2026-11-21' }, { $set: { 'totals.0.count': 2 } }),
      says: 'is 2 actions; 1 are stored',
    },
  ])('$name', async ({ check, damage, says }) => {
    const mend = await damage()
    const { exit, out, err } = await verify()
    if (typeof mend === 'function') await mend()
    expect(out).toContain(`✗ ${check}: `)
    expect(out).toContain(says)
    expect(err).toContain(check)
    expect(exit).toBe(1)
  })

  test('secrets that SECRET_KEYS does not open', async () => {
    const { exit, out } = await verify([], { SECRET_KEYS: OTHER_KEYS })
    expect(out).toContain('✗ secrets: ')
    expect(out).toContain('inbound_secret of connection con_1')
    expect(exit).toBe(1)
  })
})

describe('a backup of one moment of a busy installation is intact', () => {
  const action = (id: string, fields: Document) => ({
    ...{ _id: id as never, project_id: 'prj_1', connection_id: 'con_1', verdict: 'pending' },
    ...{ provider_created_at: '2026-11-21T09:30:00.000Z', first_seen: NOW, timeline: [] },
    ...fields,
  })

  test('while an incident is stored before its action', async () => {
    await put('incidents', { _id: 'inc_2' as never, project_id: 'prj_1', action_id: 'act_2', opened: NEWEST })
    expect(await verify()).toMatchObject({ exit: 0 })
  })

  test('while an old action has its incident before the incident is stored', async () => {
    const timeline = [{ what: 'second_look', at: NEWEST.toISOString() }]
    await put('actions', action('act_2', { incident_id: 'inc_2', timeline }))
    await on('daily_totals').updateOne({ _id: 'con_1/2026-11-21' }, { $set: { 'totals.0.count': 2 } })
    expect(await verify()).toMatchObject({ exit: 0 })
  })

  test('while an action is stored and its day does not wait for a count yet', async () => {
    await put('actions', action('act_2', { first_seen: NEWEST }))
    expect(await verify()).toMatchObject({ exit: 0 })
    await put('actions', action('act_3', {}))
    expect((await verify()).out).toContain('is 1 actions; 3 are stored')
  })
})

test('an archived action counts on its day, once if a late change has listed it again', async () => {
  const archived = { connection_id: 'con_1', provider_created_at: '2026-11-21T09:30:00.000Z' }
  await put('archived_actions', { ...archived, _id: 'act_2' as never })
  expect((await verify()).out).toContain('is 1 actions; 2 are stored')
  await on('daily_totals').updateOne({ _id: 'con_1/2026-11-21' }, { $set: { 'totals.0.count': 2 } })
  expect(await verify()).toMatchObject({ exit: 0 })
  await put('actions', { ...archived, _id: 'act_2' as never, project_id: 'prj_1', first_seen: NOW })
  expect(await verify()).toMatchObject({ exit: 0 })
})

test('without SECRET_KEYS it is exit code 2, unless the secrets are left out', async () => {
  expect(await verify([], { SECRET_KEYS: '' })).toMatchObject({ exit: 2, err: expect.stringContaining('--no-secrets') })
  const { exit, out } = await verify(['--no-secrets'], { SECRET_KEYS: '' })
  expect(out).toContain('- secrets: ')
  expect(exit).toBe(0)
})

test('another database is exit code 3, and a MongoDB that does not answer exit code 5', async () => {
  expect((await verify([], { MONGO_DB: `${stack.dbName}-other` })).exit).toBe(3)
  const url = 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200'
  expect((await verify([], { MONGO_URL: url })).exit).toBe(5)
})
