import { expect, test } from 'vitest'
import { createWebhookServer } from './server.ts'

test('the server has the limits that keep slow and greedy clients from the others (R2.2)', () => {
  const server = createWebhookServer(
    async () => {},
    () => {},
  )
  expect(server).toMatchObject({
    headersTimeout: 10_000,
    requestTimeout: 15_000,
    keepAliveTimeout: 75_000,
    maxHeadersCount: 100,
    maxRequestsPerSocket: 1_000,
    maxConnections: 5_000,
  })
})
