import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openBelongings } from './contract/every-route.ts'
import { type MongoWorld, openMongoWorld } from './mongo-world.ts'

let world: MongoWorld
let projectId: string
let channelId: string
let connectionId: string
beforeAll(async () => {
  world = await openMongoWorld()
  ;({ projectId, channelId, connectionId } = await openBelongings(world))
})
afterEach(() => world.refuseAuditOf(null))
afterAll(() => world.stop())

const kept = async () => {
  const { projects, connections, channels, apiKeys, expectedChanges } = world.stores
  const lastUse = { last_used_at: null }
  return {
    projects: await projects.findAll({}),
    connections: await connections.findAll({}),
    channels: await channels.findAll({}),
    // When a key was used last is no change of it.
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
  test.each(CHANGES)('does not happen, and may be tried again: $action', async ({ action, method, path, body }) => {
    await world.refuseAuditOf(action)
    const before = await kept()
    const refused = await world.api.call(method, path(), { body: body?.() })
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(await kept()).toEqual(before)
    await world.refuseAuditOf(null)
    // Not those that would take away what the others are about.
    if (method !== 'DELETE') expect((await world.api.call(method, path(), { body: body?.() })).status).toBeLessThan(300)
  })
})

test('changes of one document at once all happen, each with its row', async () => {
  const path = `/v1/projects/${projectId}`
  const { version } = (await world.stores.projects.find({ _id: projectId })) as { version: number }
  const rows = async () => (await world.stores.audit.findAll({ target: projectId, action: 'project.change' })).length
  const before = await rows()
  const names = Array.from({ length: 8 }, (_, i) => `Name ${i}`)
  const answers = await Promise.all(names.map(name => world.api.patch(path, { name })))
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200))
  expect(await world.stores.projects.find({ _id: projectId })).toMatchObject({ version: version + names.length })
  expect(await rows()).toBe(before + names.length)
})
