import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { RunningService } from '@backstop/kit/service'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { credentialOf, eventOf } from '../../test/memory-ingress.ts'
import { type ProvisionedStack, provisionStack } from '../../test/real-ingress.ts'
import { startIngress } from '../start.ts'

const SOCKETS = 900
const EVENTS = 6_000

let parts: ProvisionedStack
let ingress: RunningService
beforeAll(async () => {
  parts = await provisionStack()
  // The shortest wait, and a short queue: on a fast machine no turn of the event loop is long, and the queue alone refuses.
  const limits = { SHED_WAIT_MS: '20', QUEUE_MAX_MESSAGES: '50', RATE_LIMIT_BURST: '1000000' }
  ingress = await startIngress({ ...parts.environment, ...limits })
  await until('readiness', async () => (await fetch(`http://127.0.0.1:${ingress.opsPort}/readyz`)).ok)
})
afterAll(async () => {
  await ingress.stop()
  await parts.close()
})

const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS })
function postEvent(id: string): Promise<number | undefined> {
  const body = JSON.stringify({ ...eventOf('processor', id), padding: 'x'.repeat(1_000) })
  const url = `http://127.0.0.1:${ingress.port}/v1/webhooks/processor/con_processor`
  return new Promise((resolve, reject) => {
    const headers = { ...credentialOf('processor', body), 'content-length': body.length }
    const outgoing = request(url, { method: 'POST', agent, headers }, response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

test('every event that an overloaded ingress answered with 200 is on the topic, and every other answer is 503', async () => {
  // A repetition of this test must not take the events of the first one for its own.
  const flood = randomUUID()
  const ids = Array.from({ length: EVENTS }, (_, index) => `evt_${flood}_${index}`)
  const statuses = await Promise.all(ids.map(postEvent))
  const withStatus = (status: number) => ids.filter((_, index) => statuses[index] === status)
  const accepted = withStatus(200)
  expect(accepted.length + withStatus(503).length).toBe(EVENTS)
  expect(withStatus(503).length).toBeGreaterThan(0)
  expect(accepted.length).toBeGreaterThan(0)
  const inFlood = (id: string | undefined) => id?.startsWith(`evt_${flood}_`) === true
  const messages = await parts.messagesOf(
    'processor',
    all => all.filter(({ headers }) => inFlood(headers.event_id)).length >= accepted.length,
  )
  const stored = new Set(messages.map(({ headers }) => headers.event_id))
  expect(accepted.filter(id => !stored.has(id))).toEqual([])
  expect(await postEvent('evt_after_the_flood')).toBe(200)
  agent.destroy()
})
