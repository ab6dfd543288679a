import { AppError } from '@backstop/kit/errors'
import { until } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { createApiClient } from './api-client.ts'
import { createMemoryStores } from './memory-stores.ts'
import { BOOTSTRAP_KEY, createTestApp } from './test-api.ts'

/** Starts the API over stores in which the collections of the reconciler and the notifier cannot be read. */
async function startWithUnreadableCollections() {
  const stores = createMemoryStores()
  const app = createTestApp({ stores })
  await app.start()
  const api = createApiClient(`http://127.0.0.1:${app.port()}`, BOOTSTRAP_KEY)
  await until('the API to be ready', async () => app.unready() === undefined)
  const project_id = (await api.post('/v1/projects', { name: 'Shop' })).body.project_id as string
  const connections = `/v1/projects/${project_id}/connections`
  const connection = await api.post(connections, { kind: 'processor', name: 'Cards' })
  const config = { kind: 'webhook', url: 'https://hooks.example.test/x' }
  const channel = await api.post('/v1/alert-channels', { project_id, name: 'Us', events: ['run.failed'], config })
  const unreadable = async () => Promise.reject(new AppError('unavailable', 'MongoDB is unavailable'))
  stores.sweeps.find = unreadable
  stores.channelHealth.find = unreadable
  return {
    app,
    api,
    connection: `${connections}/${connection.body.connection_id}`,
    channel: `/v1/alert-channels/${channel.body.channel_id}`,
    stored: async () => [await stores.connections.findAll({}), await stores.channels.findAll({})],
  }
}

test.each(['connection', 'channel'] as const)(
  'a new secret of a %s that could not be shown is not used',
  async kind => {
    const { app, api, stored, ...paths } = await startWithUnreadableCollections()
    const before = await stored()
    expect(await api.post(`${paths[kind]}/rotate-secret`, {})).toMatchObject({ status: 503 })
    expect(await stored()).toEqual(before)
    await app.stop()
  },
)

test('a connection whose change could not be shown stays unchanged', async () => {
  const { app, api, connection, stored } = await startWithUnreadableCollections()
  const before = await stored()
  expect(await api.patch(connection, { out_of_band: 'ignore' })).toMatchObject({ status: 503 })
  expect(await stored()).toEqual(before)
  await app.stop()
})
