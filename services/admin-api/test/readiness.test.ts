import { unavailable } from '@backstop/kit/errors'
import { until } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { createApiClient } from './api-client.ts'
import { createMemoryStores } from './memory-stores.ts'
import { BOOTSTRAP_KEY, createTestApp } from './test-api.ts'

test('the API is not ready before its first key is stored', async () => {
  const stores = createMemoryStores()
  let isDown = true
  const page: typeof stores.apiKeys.page = request =>
    isDown ? Promise.reject(unavailable('MongoDB', undefined)) : stores.apiKeys.page(request)
  const app = createTestApp({ stores: { ...stores, apiKeys: { ...stores.apiKeys, page } } })
  expect(app.unready()).toBe('The API is not listening yet')
  await app.start()
  try {
    expect(app.unready()).toBe('The first API key is not stored yet')
    isDown = false
    await until('the API to be ready', () => app.unready() === undefined)
    const answer = await createApiClient(`http://127.0.0.1:${app.port()}`, BOOTSTRAP_KEY).get('/v1/projects')
    expect(answer.status).toBe(200)
  } finally {
    await app.stop()
  }
})
