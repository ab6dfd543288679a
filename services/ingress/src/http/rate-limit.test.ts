import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectionDocument } from '../../test/connection-documents.ts'
import { expectProblem } from '../../test/expect-problem.ts'
import { post } from '../../test/http-client.ts'
import { credentialOf, eventOf, type MemoryIngress, SECRETS, startMemoryIngress } from '../../test/memory-ingress.ts'

let ingress: MemoryIngress
beforeAll(async () => {
  ingress = await startMemoryIngress({ settings: { rateLimit: { perSecond: 1, burst: 3 } } })
  ingress.connections.save(connectionDocument('con_other', 'processor', [SECRETS.processor]))
})
afterAll(() => ingress.stop())

const send = (connectionId: string, id: string, forged = false) => {
  const body = JSON.stringify(eventOf('processor', id))
  return post(
    `${ingress.base}/v1/webhooks/processor/${connectionId}`,
    body,
    credentialOf('processor', forged ? 'x' : body),
  )
}

test('a connection that sends more than its limit is answered 429 with Retry-After, and no other connection is', async () => {
  for (let sent = 0; sent < 20; sent++) expect((await send('con_processor', `evt_${sent}`, true)).status).toBe(400)
  for (let sent = 0; sent < 3; sent++) expect((await send('con_processor', `evt_${sent}`)).status).toBe(200)
  const refused = await send('con_processor', 'evt_more')
  expectProblem(refused, 429, 'rate_limited', '1')
  expect(ingress.lines.at(-1)).toMatchObject({
    msg: 'event.refused',
    connection_id: 'con_processor',
    reason: 'connection_rate_limit',
  })
  expect((await send('con_other', 'evt_other')).status).toBe(200)
  expect(ingress.bus.stored('inbound.processor')).toHaveLength(4)
  expect(await ingress.metrics()).toMatch(/ingress_webhooks_total\{provider="processor",result="rate_limited",.*\} 1$/m)
})
