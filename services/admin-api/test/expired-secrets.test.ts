import { createManualClock, until } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { createApiClient } from './api-client.ts'
import { createMemoryStores } from './memory-stores.ts'
import { BOOTSTRAP_KEY, createTestApp } from './test-api.ts'

const HOUR_MS = 3_600_000

test('a replaced secret is erased within ten minutes of the end of its overlap, without a request', async () => {
  const clock = createManualClock()
  const stores = createMemoryStores()
  const app = createTestApp({ clock, stores })
  await app.start()
  const api = createApiClient(`http://127.0.0.1:${app.port()}`, BOOTSTRAP_KEY)
  await until('the API to be ready', async () => app.unready() === undefined)
  const { project_id } = (await api.post('/v1/projects', { name: 'Shop' })).body
  const config = { kind: 'webhook', url: 'https://hooks.example.test/in', secret: 'the first' }
  const channel = { project_id, name: 'Ops', events: ['run.failed'], config }
  const { channel_id: id } = (await api.post('/v1/alert-channels', channel)).body
  await api.post(`/v1/alert-channels/${id}/rotate-secret`, { overlap_hours: 1 })
  const previous = async () => {
    const stored = await stores.channels.find({ _id: id })
    return stored?.config.kind === 'webhook' ? stored.config.previous_secret : undefined
  }
  await clock.advance(HOUR_MS - 1)
  expect(await previous()).toMatchObject({ sealed: expect.any(String) })
  await clock.advance(10 * 60_000)
  expect(await previous()).toBeNull()
  await app.stop()
})
