import { createMemoryRecorder } from '@backstop/kit/test'
import { createTracing, traceIdOf } from '@backstop/kit/tracing'
import { expect, onTestFinished, test } from 'vitest'
import { post } from '../../test/http-client.ts'
import { credentialOf, eventOf, type MemoryIngress, startMemoryIngress } from '../../test/memory-ingress.ts'

const SENDER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

async function startTraced(ratio: number, sendResultOf: () => 'stored' | 'refused' = () => 'stored') {
  const recorder = createMemoryRecorder()
  const ingress = await startMemoryIngress({ ports: { tracing: createTracing(recorder, ratio) }, sendResultOf })
  onTestFinished(() => ingress.stop())
  return { ingress, spans: recorder.finished }
}

function postWithTrace(ingress: MemoryIngress, credential?: Record<string, string>) {
  const body = JSON.stringify(eventOf('processor', 'evt_traced'))
  const headers = credential ?? credentialOf('processor', body)
  return post(`${ingress.base}/v1/webhooks/processor/con_processor`, body, { ...headers, traceparent: SENDER })
}

test('an authentic notification has a span of its own, whose send the message continues', async () => {
  const { ingress, spans } = await startTraced(1)
  await postWithTrace(ingress)
  const [sent, webhook] = spans
  expect(webhook).toMatchObject({
    name: 'POST /v1/webhooks/{provider}/{connection_id}',
    parent: undefined,
    links: [{ traceId: traceIdOf(SENDER) }],
    attributes: { 'backstop.event_id': 'evt_traced', 'backstop.result': 'acknowledged' },
    errorCode: undefined,
  })
  expect(sent).toMatchObject({ name: 'send inbound.processor', parent: { spanId: webhook?.spanId } })
  const traceparent = `00-${webhook?.traceId}-${sent?.spanId}-01`
  expect(ingress.bus.stored('inbound.processor').at(-1)?.headers.traceparent).toBe(traceparent)
  expect(ingress.lines.at(-1)).toMatchObject({ msg: 'event.ingested', trace_id: webhook?.traceId })
})

test('a sender that asks to be sampled gets an unrecorded trace with an id of our own', async () => {
  const { ingress, spans } = await startTraced(0)
  await postWithTrace(ingress)
  const { traceparent } = ingress.bus.stored('inbound.processor').at(-1)!.headers
  expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  expect(traceparent).not.toContain(traceIdOf(SENDER))
  expect(spans).toEqual([])
})

test('a notification that is not authentic is never recorded', async () => {
  const { ingress, spans } = await startTraced(1)
  expect(await postWithTrace(ingress, { 'processor-signature': 't=1,v1=00' })).toMatchObject({ status: 400 })
  expect(spans).toEqual([])
})

test('an event that the broker does not store has failed spans', async () => {
  const { ingress, spans } = await startTraced(1, () => 'refused')
  expect(await postWithTrace(ingress)).toMatchObject({ status: 503 })
  expect(spans.map(({ errorCode }) => errorCode)).toEqual(['broker_unavailable', 'broker_unavailable'])
})
