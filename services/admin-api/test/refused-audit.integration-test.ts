import { AppError, unavailable } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { createManualClock } from '@backstop/kit/test'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createRefusalAudit } from '../src/access/audit-refusals.ts'
import { chainRows } from '../src/resources/audit/chain-rows.ts'
import { signAuditRows } from '../src/store/sign-audit-rows.ts'
import { createProjectResources } from './contract/every-route.ts'
import { type MongoTestApi, startMongoApi } from './mongo-test-api.ts'
import { secretBoxOfTests } from './test-api.ts'

let testApi: MongoTestApi
let projectId: string
let channelId: string
let connectionId: string
beforeAll(async () => {
  testApi = await startMongoApi()
  ;({ projectId, channelId, connectionId } = await createProjectResources(testApi))
})
afterEach(() => testApi.refuseAuditOf(null))
afterAll(() => testApi.stop())

const readStoredDocuments = async () => {
  const { projects, connections, channels, apiKeys, expectedChanges } = testApi.stores
  const lastUse = { last_used_at: null }
  return {
    projects: await projects.findAll({}),
    connections: await connections.findAll({}),
    channels: await channels.findAll({}),
    // Updating `last_used_at` is not a change of the key.
    apiKeys: (await apiKeys.findAll({})).map(key => ({ ...key, ...lastUse })),
    expectedChanges: await expectedChanges.findAll({}),
  }
}

const CHANGES: { action: string; method: 'POST' | 'PATCH' | 'DELETE'; path: () => string; body?: () => object }[] = [
  { action: 'project.create', method: 'POST', path: () => '/v1/projects', body: () => ({ name: 'Second shop' }) },
  {
    action: 'project.change',
    method: 'PATCH',
    path: () => `/v1/projects/${projectId}`,
    body: () => ({ name: 'Renamed' }),
  },
  {
    action: 'connection.create',
    method: 'POST',
    path: () => `/v1/projects/${projectId}/connections`,
    body: () => ({ kind: 'processor', name: 'More cards' }),
  },
  {
    action: 'connection.change',
    method: 'PATCH',
    path: () => `/v1/projects/${projectId}/connections/${connectionId}`,
    body: () => ({ out_of_band: 'ignore' }),
  },
  {
    action: 'connection.rotate_secret',
    method: 'POST',
    path: () => `/v1/projects/${projectId}/connections/${connectionId}/rotate-secret`,
    body: () => ({}),
  },
  {
    action: 'connection.delete',
    method: 'DELETE',
    path: () => `/v1/projects/${projectId}/connections/${connectionId}`,
  },
  {
    action: 'api_key.create',
    method: 'POST',
    path: () => '/v1/api-keys',
    body: () => ({ name: 'CI', scopes: ['read'] }),
  },
  {
    action: 'alert_channel.create',
    method: 'POST',
    path: () => '/v1/alert-channels',
    body: () => ({
      project_id: projectId,
      name: 'Us',
      events: ['run.failed'],
      config: { kind: 'webhook', url: 'https://hooks.example.test/x' },
    }),
  },
  {
    action: 'alert_channel.change',
    method: 'PATCH',
    path: () => `/v1/alert-channels/${channelId}`,
    body: () => ({ name: 'Others' }),
  },
  {
    action: 'alert_channel.rotate_secret',
    method: 'POST',
    path: () => `/v1/alert-channels/${channelId}/rotate-secret`,
    body: () => ({}),
  },
  { action: 'alert_channel.delete', method: 'DELETE', path: () => `/v1/alert-channels/${channelId}` },
  {
    action: 'expected_change.create',
    method: 'POST',
    path: () => '/v1/expected-changes',
    body: () => ({ project_id: projectId, kind: 'refund', note: 'By hand', expires_in_seconds: 600 }),
  },
]

describe('a change whose audit row MongoDB refuses', () => {
  test.each(CHANGES)('is not made, and may be retried: $action', async ({ action, method, path, body }) => {
    await testApi.refuseAuditOf(action)
    const before = await readStoredDocuments()
    const refused = await testApi.api.call(method, path(), { body: body?.() })
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(await readStoredDocuments()).toEqual(before)
    await testApi.refuseAuditOf(null)
    // Without deletions, because they would remove resources that later requests need.
    if (method !== 'DELETE')
      expect((await testApi.api.call(method, path(), { body: body?.() })).status).toBeLessThan(300)
  })
})

test('concurrent changes of one document are all made, each with its row', async () => {
  const path = `/v1/projects/${projectId}`
  const { version } = (await testApi.stores.projects.find({ _id: projectId })) as { version: number }
  const rows = async () => (await testApi.stores.audit.findAll({ target: projectId, action: 'project.change' })).length
  const before = await rows()
  const names = Array.from({ length: 8 }, (_, i) => `Name ${i}`)
  const answers = await Promise.all(names.map(name => testApi.api.patch(path, { name })))
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200))
  expect(await testApi.stores.projects.find({ _id: projectId })).toMatchObject({ version: version + names.length })
  expect(await rows()).toBe(before + names.length)
})

test('refusals have a row each, and rows that joined the hash chain before their storing is repeated stay unchanged', async () => {
  const { stores } = testApi
  const signing = signAuditRows(stores, secretBoxOfTests)
  const clock = createManualClock(Date.now())
  let isAnswerLost = true
  const transaction: typeof stores.transaction = async write => {
    const result = await signing.transaction(write)
    if (!isAnswerLost) return result
    isAnswerLost = false
    throw unavailable('MongoDB', undefined)
  }
  const refusals = createRefusalAudit({ transaction }, { clock, logger: createLogger('test', 'silent') })
  const identity = { kind: 'key', id: 'key_refused', name: 'Bot', sessionId: null, keyHash: null, grants: [] } as const
  for (const requestId of ['req_1', 'req_2', 'req_3']) {
    const facts = {
      requestId,
      address: '192.0.2.1',
      route: undefined,
      operation: undefined,
      code: undefined,
      traceId: undefined,
      identity,
    }
    refusals.record(new AppError('forbidden', 'The scope is missing'), 'createProject', facts)
  }
  await refusals.stop()
  const step = { stores, keys: secretBoxOfTests, seen: undefined, isComplete: true }
  const later = new Date(clock.now() + 300_000)
  while ((await chainRows({ ...step, now: later })).linked > 0);
  const readRows = async () =>
    (await stores.audit.findAll({ key_id: 'key_refused' })).toSorted((a, b) => (a._id < b._id ? -1 : 1))
  const chained = await readRows()
  expect(chained.map(({ request_id }) => request_id).toSorted()).toEqual(['req_1', 'req_2', 'req_3'])
  expect(chained.every(({ sequence, count }) => sequence !== undefined && count === 1)).toBe(true)
  await refusals.stop()
  expect(await readRows()).toEqual(chained)
  expect((await testApi.api.get('/v1/audit/verify')).body).toMatchObject({ state: 'intact', broken: null })
})
