import { Problem } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { parseAnswer, rawExchange } from '../../test/http-client.ts'
import { startMemoryIngress } from '../../test/memory-ingress.ts'

// This test needs no stack, but it waits for the server's real timeout of ten seconds.
test('a client that never ends its headers is cut off with 408 after 10 s', async () => {
  const ingress = await startMemoryIngress()
  const began = performance.now()
  const drip = Array.from({ length: 60 }, (_, at) => [`x-${at}: y\r\n`, 200]).flat()
  const head = 'POST /v1/webhooks/processor/con_processor HTTP/1.1\r\nhost: x\r\n'
  const { status, body } = parseAnswer(await rawExchange(ingress.app.port(), [head, ...drip]))
  expect(status).toBe(408)
  expect(Problem.parse(JSON.parse(body)).code).toBe('request_timeout')
  expect(performance.now() - began).toBeGreaterThan(9_500)
  expect(performance.now() - began).toBeLessThan(14_000)
  expect(ingress.lines.filter(({ reason }) => reason === 'too_slow')).toHaveLength(1)
  await ingress.stop()
})
