import { execFileSync } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createCollectingLogger } from '../../test/log-lines.ts'
import { type Answer, startReceiver } from '../../test/receiver.ts'
import { until } from '../../test/until.ts'
import { readConfig } from '../config/config.ts'
import { startTracing, tracingSettings } from './start-tracing.ts'
import type { Tracing } from './tracing.ts'

const accept: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
}
const hang: Answer = () => {}

const readSettings = (environment: Record<string, string>) => readConfig(tracingSettings, environment)

async function startWith(answer: Answer, environment: Record<string, string> = {}) {
  const receiver = await startReceiver(answer)
  onTestFinished(() => receiver.stop())
  const log = createCollectingLogger()
  const settings = readSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_TRACES_SAMPLER: 'always_on',
    ...environment,
  })
  const tracing = await startTracing('ingress', { ...settings, BACKSTOP_REVISION: 'abc' }, log.logger)
  if (tracing === undefined) throw new Error('Traces are off')
  return { receiver, log, tracing }
}

function recordSpans(tracing: Tracing, count: number): void {
  for (let index = 0; index < count; index += 1) tracing.start('step', { kind: 'client' }).end()
}

interface Sent {
  resourceSpans: { resource: { attributes: unknown }; scopeSpans: { spans: Record<string, unknown>[] }[] }[]
}
const readSent = (body: Buffer) => (JSON.parse(body.toString()) as Sent).resourceSpans
const countSpans = (bodies: readonly { body: Buffer }[]) =>
  bodies
    .flatMap(({ body }) => readSent(body))
    .flatMap(({ scopeSpans }) => scopeSpans)
    .reduce((sum, { spans }) => sum + spans.length, 0)

describe('traces that are on', () => {
  test('are sent as OTLP in JSON, with the resource and headers of the settings, at the latest when the process stops', async () => {
    const { receiver, tracing } = await startWith(accept, {
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20key, x-tenant=a',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=shop-ingress',
    })
    const span = tracing.start('GET', { kind: 'server' })
    span.rename('GET /x')
    span.set({ 'http.response.status_code': 503, absent: undefined, none: null, long: 'x'.repeat(1_000) })
    span.end('unavailable')
    await tracing.stop()
    expect(receiver.requests).toMatchObject([
      { method: 'POST', path: '/v1/traces', headers: { authorization: 'Bearer key', 'x-tenant': 'a' } },
    ])
    const [sent] = readSent(receiver.requests[0]!.body)
    expect(sent?.resource.attributes).toEqual(
      expect.arrayContaining([
        { key: 'service.name', value: { stringValue: 'shop-ingress' } },
        { key: 'service.version', value: { stringValue: 'abc' } },
        { key: 'deployment.environment.name', value: { stringValue: 'test' } },
      ]),
    )
    expect(sent?.scopeSpans[0]?.spans).toMatchObject([
      {
        name: 'GET /x',
        traceId: span.traceparent.slice(3, 35),
        spanId: span.traceparent.slice(36, 52),
        kind: 2,
        status: { code: 2 },
        attributes: [
          { key: 'http.response.status_code', value: { intValue: 503 } },
          { key: 'long', value: { stringValue: 'x'.repeat(256) } },
          { key: 'error.type', value: { stringValue: 'unavailable' } },
        ],
      },
    ])
  })

  test('are dropped and logged once while the receiver refuses them', async () => {
    const { receiver, log, tracing } = await startWith((_request, response) => response.writeHead(400).end())
    recordSpans(tracing, 1_100)
    await until('two refused batches', () => receiver.requests.length >= 2)
    await tracing.stop()
    expect(log.count('traces.not_sent')).toBe(1)
  })

  test('wait in a bounded queue while the receiver hangs, and do not delay the stop', async () => {
    const { receiver, tracing } = await startWith(hang)
    recordSpans(tracing, 20_000)
    await until('the first batch', () => receiver.requests.length > 0)
    const began = performance.now()
    await tracing.stop()
    expect(performance.now() - began).toBeLessThan(4_000)
    expect(countSpans(receiver.requests)).toBeLessThanOrEqual(2_048 + 512)
  })
})

test.each([
  { name: 'without a receiver', environment: {} },
  {
    name: 'if OTEL_SDK_DISABLED',
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a.test', OTEL_SDK_DISABLED: 'true' },
  },
])('traces are off $name, and no code of the SDK is loaded', ({ environment }) => {
  const code = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ resolve(name, context, next) { loaded.push(name); return next(name, context) } })
    const load = path => import(new URL(path, ${JSON.stringify(import.meta.url)}).href)
    const { readConfig } = await load('../config/index.ts')
    const { startTracing, tracingSettings } = await load('./index.ts')
    await load('../service/index.ts')
    const tracing = await startTracing('ingress', readConfig(tracingSettings, ${JSON.stringify(environment)}), undefined)
    const ofSdk = loaded.filter(name => /opentelemetry.(sdk|exporter|otlp)/.test(name))
    console.log(JSON.stringify({ isOff: tracing === undefined, loaded: loaded.length > 100, ofSdk }))
    process.exit(0)`
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8' })
  expect(JSON.parse(output)).toEqual({ isOff: true, loaded: true, ofSdk: [] })
})

describe('the settings of traces', () => {
  test('record one trace in a hundred by default', () => {
    const { OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG } = readSettings({})
    expect([OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG]).toEqual(['parentbased_traceidratio', 0.01])
  })

  test('refuse another protocol, a share above 1 and unreadable lists', () => {
    const faulty = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_HEADERS: 'key',
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_TRACES_SAMPLER_ARG: '1.5',
      OTEL_RESOURCE_ATTRIBUTES: 'a=%',
    }
    expect(() => readSettings(faulty)).toThrow('The configuration has 6 error(s)')
  })

  test('do not show the headers, which may have a key', () => {
    const { OTEL_EXPORTER_OTLP_HEADERS } = readSettings({ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=key' })
    expect(`${OTEL_EXPORTER_OTLP_HEADERS}`).toBe('[secret]')
  })
})
