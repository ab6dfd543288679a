/** The trace of an alert through the whole notifier in memory. */
import { alert, webhookChannel } from '@backstop/channels/test'
import { createMemoryRecorder, type MemorySpan } from '@backstop/kit/test'
import { createTracing, traceIdOf } from '@backstop/kit/tracing'
import { expect, test } from 'vitest'
import { createMemoryNotifier } from './memory-notifier.ts'

const SAMPLED = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const URL = 'https://a.example.com/hook'

/** @param ratio the share of recorded traces; null if traces are off */
async function startTraced(ratio: number | null) {
  const recorder = createMemoryRecorder()
  const notifier = createMemoryNotifier(ratio === null ? {} : { tracing: createTracing(recorder, ratio) })
  notifier.collections.channels.set('chn_a', webhookChannel('chn_a', URL))
  await notifier.start()
  return { ...notifier, spans: recorder.finished }
}

const named = (spans: readonly MemorySpan[], name: string) => spans.filter(span => span.name === name)

test('an alert is fanned out and delivered in the trace of its decision', async () => {
  const { publishTraced, clock, spans, log, requests } = await startTraced(0)
  await publishTraced(SAMPLED, alert())
  await clock.advance(1_000)
  const [fanOut] = named(spans, 'process alerts')
  expect(fanOut).toMatchObject({ traceId: traceIdOf(SAMPLED), parent: { spanId: 'b7ad6b7169203331' } })
  const [delivery, ...others] = named(spans, 'deliver webhook')
  expect(others).toEqual([])
  expect(delivery).toMatchObject({
    traceId: fanOut?.traceId,
    parent: { spanId: fanOut?.spanId },
    attributes: { 'backstop.channel_id': 'chn_a', 'backstop.attempt': 1, 'http.response.status_code': 200 },
    errorCode: undefined,
  })
  const isAboutAlert = ({ msg }: Record<string, unknown>) => msg === 'delivery.attempted' || msg === 'alert.fanned_out'
  expect(log.filter(isAboutAlert).map(({ trace_id }) => trace_id)).toEqual([fanOut?.traceId, fanOut?.traceId])
  expect(requests[0]?.headers).not.toHaveProperty('traceparent')
})

test('a retry is a trace of its own, which links to the fan-out', async () => {
  const { publishTraced, clock, spans, state, requests } = await startTraced(0)
  state.reply = () => (requests.length === 1 ? 503 : 200)
  await publishTraced(SAMPLED, alert())
  await clock.advance(10_000)
  const [fanOut] = named(spans, 'process alerts')
  const [first, second] = named(spans, 'deliver webhook')
  expect(first).toMatchObject({ traceId: fanOut?.traceId, errorCode: 'receiver_failed', links: [] })
  expect(second).toMatchObject({
    parent: undefined,
    errorCode: undefined,
    links: [{ traceId: fanOut?.traceId, spanId: fanOut?.spanId }],
    attributes: { 'backstop.attempt': 2 },
  })
  expect(second?.traceId).not.toBe(fanOut?.traceId)
})

test('an alert without a readable trace starts one', async () => {
  const { publish, clock, spans } = await startTraced(1)
  await publish(alert())
  await clock.advance(1_000)
  const [fanOut] = named(spans, 'process alerts')
  expect(fanOut).toMatchObject({ parent: undefined, links: [] })
  expect(named(spans, 'deliver webhook')).toMatchObject([{ parent: { spanId: fanOut?.spanId } }])
})

test('nothing is traced while traces are off', async () => {
  const { publishTraced, clock, log, requests } = await startTraced(null)
  await publishTraced(SAMPLED, alert())
  await clock.advance(1_000)
  expect(requests).toHaveLength(1)
  for (const line of log) expect(line).not.toHaveProperty('trace_id')
})
