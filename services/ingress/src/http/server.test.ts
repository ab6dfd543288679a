import { systemClock } from '@backstop/kit/clock'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import { expect, test } from 'vitest'
import { createWebhookServer } from './server.ts'

test('the server has the limits that protect other clients from slow and greedy ones', () => {
  const { server } = createWebhookServer({
    handle: async () => {},
    onRefused: () => {},
    sockets: {
      maxSockets: 5_000,
      maxPerAddress: 1_000,
      isTrustedProxy: () => false,
      clock: systemClock,
      logger: createLogger('ingress', 'fatal'),
      metrics: createMetrics('test'),
    },
  })
  expect(server).toMatchObject({
    headersTimeout: 10_000,
    requestTimeout: 15_000,
    keepAliveTimeout: 75_000,
    maxHeadersCount: 100,
  })
})
