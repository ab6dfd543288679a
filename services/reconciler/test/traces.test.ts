/** The trace of an event through the whole reconciler in memory, and across the minute to the second look. */
import { HEADERS } from '@backstop/contracts'
import { createMemoryRecorder, type MemorySpan } from '@backstop/kit/test'
import { createTracing, traceIdOf } from '@backstop/kit/tracing'
import { MINUTE, PROJECT, SECOND } from '@backstop/verdict/test'
import { expect, onTestFinished, test } from 'vitest'
import { startMemoryReconciler } from './memory-reconciler.ts'

const SAMPLED = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const UNSAMPLED = SAMPLED.replace(/01$/, '00')

/** Runs an unexplained refund up to its incident. @param ratio the share of recorded traces; null if traces are off */
async function openIncident(traceparent: string, ratio: number | null) {
  const recorder = createMemoryRecorder()
  const tracing = ratio === null ? undefined : createTracing(recorder, ratio)
  const reconciler = await startMemoryReconciler('con_1', () => ({}), { created_at: new Date(0) }, undefined, tracing)
  onTestFinished(() => reconciler.stop())
  const { clock, contents, publish, bus } = reconciler
  await clock.advance(MINUTE)
  const created = Math.floor(clock.now() / SECOND)
  const refund = { id: 're_1', object: 'refund', amount: 2499, currency: 'eur', charge: 'ch_1', payment_intent: 'pi_1' }
  const event = reconciler.codec.encode('inbound-event', {
    provider: 'processor',
    project_id: PROJECT,
    connection_id: 'con_1',
    event_id: 'evt_1',
    event_type: 'refund.created',
    received_at: new Date(clock.now()).toISOString(),
    body: {
      ...{ id: 'evt_1', object: 'event', type: 'refund.created', created, livemode: true },
      data: { object: { ...refund, status: 'succeeded', created } },
    },
  })
  await publish([event], { [HEADERS.traceparent]: traceparent })
  for (let passed = 0; passed < 3; passed += 1) await clock.advance(MINUTE)
  const [incident] = [...contents.incidents.values()]
  const [alert] = bus.stored('alerts')
  return { incident, alert, spans: recorder.finished, bus }
}

const named = (spans: readonly MemorySpan[], name: string) => spans.filter(span => span.name === name)

test('an event is processed in the trace of its notification, and its second look in a linked trace', async () => {
  const { incident, alert, spans } = await openIncident(SAMPLED, 0)
  const [processed, ...others] = named(spans, 'process inbound.processor')
  expect(others).toEqual([])
  expect(processed).toMatchObject({ traceId: traceIdOf(SAMPLED), parent: { spanId: 'b7ad6b7169203331' }, links: [] })
  const [look] = named(spans, 'process rechecks.due')
  expect(look).toMatchObject({
    parent: undefined,
    links: [{ traceId: processed?.traceId, spanId: processed?.spanId }],
    attributes: { 'backstop.verdict': 'unexplained', 'backstop.incident_id': incident?.incident_id },
  })
  expect(look?.traceId).not.toBe(processed?.traceId)
  expect(incident?.trace_id).toBe(look?.traceId)
  expect(alert?.headers.traceparent).toBe(`00-${look?.traceId}-${look?.spanId}-01`)
})

test('an event of an unrecorded trace has no span, and its incident has the id of the trace', async () => {
  const { incident, alert, spans } = await openIncident(UNSAMPLED, 1)
  expect(spans).toEqual([])
  expect(incident?.trace_id).toBe(traceIdOf(UNSAMPLED))
  expect(alert?.headers.traceparent).toBe(UNSAMPLED)
})

test('a traceparent is ignored while traces are off', async () => {
  const { incident, alert, bus } = await openIncident(SAMPLED, null)
  expect(incident).toMatchObject({ code: 'UNEXPECTED_ACTION' })
  expect(incident).not.toHaveProperty('trace_id')
  for (const message of [alert, ...bus.stored('rechecks'), ...bus.stored('incidents')]) {
    expect(message?.headers).not.toHaveProperty('traceparent')
  }
})
