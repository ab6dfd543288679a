import { createSecretKey } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'
import { systemClock } from '../clock/clock.ts'
import { unavailable } from '../errors.ts'
import { createLogger } from '../logger.ts'
import { createMetrics } from '../ops/metrics.ts'
import type { RunningService } from './run-service.ts'
import type { ServiceParts } from './service-parts.ts'
import { type ServiceApp, type StartOptions, startApp } from './start-app.ts'

let service: RunningService | undefined
const lines: string[] = []
const stopped: string[] = []
afterEach(async () => {
  vi.useRealTimers()
  await service?.stop()
  service = undefined
  lines.length = 0
  stopped.length = 0
})

const KEY = Buffer.alloc(32, 7)

const inStep = { unready: () => undefined, untilMeasured: async () => {}, aheadMs: () => undefined, ...systemClock }
const silentKafka = { fault: () => 'Kafka has not answered for 15 s', stop: async () => {} }

/** A service whose MongoDB, clock and app can be made to fail. */
async function start(
  app: Partial<ServiceApp>,
  options: Partial<StartOptions> & { parts?: Partial<ServiceParts> } = {},
) {
  const named = (name: string) => ({ stop: async () => void stopped.push(name) })
  const metrics = createMetrics('test')
  const parts = {
    logger: createLogger('test', 'info', { write: line => void lines.push(line) }),
    metrics,
    mongo: { ping: async () => {}, ...named('mongo') },
    kafka: { fault: () => undefined, ...named('kafka') },
    clock: { ...inStep, ...named('clock') },
    processEntry: { save: async () => {}, remove: async () => void stopped.push('entry') },
    failed: new Promise(() => {}),
    ...options.parts,
  } as unknown as ServiceParts
  const keys = new Map([['k1', createSecretKey(KEY)]])
  const config = { HOST: '127.0.0.1', OPS_PORT: 0, SECRET_KEYS: { primary: 'k1', keys, lost: new Set<string>() } }
  service = await startApp({ start: async () => {}, ...named('app'), ...app }, { config, ...options, parts })
  return { metrics, ask: (path: string) => fetch(`http://127.0.0.1:${service?.opsPort}${path}`) }
}

test('is live and ready when nothing is wrong', async () => {
  const { ask } = await start({})
  expect((await ask('/healthz')).status).toBe(200)
  expect((await ask('/readyz')).status).toBe(200)
})

test('is not live once a consumer has made no progress for two minutes, counted from the start at the earliest', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const { ask } = await start({ msSinceProgress: () => Number.POSITIVE_INFINITY })
  vi.advanceTimersByTime(120_000)
  expect((await ask('/healthz')).status).toBe(200)
  vi.advanceTimersByTime(1)
  expect((await ask('/healthz')).status).toBe(503)
})

test('is ready without Kafka where it does not need it', async () => {
  const { ask } = await start({}, { needsKafka: false, parts: { kafka: silentKafka } as unknown as ServiceParts })
  expect((await ask('/readyz')).status).toBe(200)
})

const noMongo = { ping: () => Promise.reject(unavailable('MongoDB', undefined)), stop: async () => {} }
test.each([
  { name: 'the app', app: { unready: () => 'No keys yet' }, parts: {}, reason: 'No keys yet' },
  {
    name: 'the clock',
    app: {},
    parts: { clock: { ...inStep, unready: () => 'Far apart', stop() {} } },
    reason: 'Far apart',
  },
  {
    name: 'Kafka',
    app: {},
    parts: { kafka: silentKafka },
    reason: 'Kafka has not answered for 15 s',
  },
  { name: 'MongoDB', app: {}, parts: { mongo: noMongo }, reason: 'MongoDB is unavailable' },
])('is not ready while $name is not', async ({ app, parts, reason }) => {
  const { ask } = await start(app, { parts: parts as unknown as ServiceParts })
  const answer = await ask('/readyz')
  expect(answer.status).toBe(503)
  expect(await answer.text()).toBe(`${reason}\n`)
})

test('is ready without MongoDB where it does not need it', async () => {
  const { ask } = await start({}, { needsMongo: false, parts: { mongo: noMongo } as unknown as ServiceParts })
  expect((await ask('/readyz')).status).toBe(200)
})

test('serves the metrics of the parts', async () => {
  const { metrics, ask } = await start({})
  metrics.gauge('things', 'Things', []).set(7)
  expect(await (await ask('/metrics')).text()).toContain('things{service="test"} 7')
})

test('logs the ids of its keys and no key', async () => {
  await start({ port: () => 4711 })
  const [line = ''] = lines
  expect(JSON.parse(line)).toMatchObject({ msg: 'service.started', port: 4711, config: { SECRET_KEYS: ['k1'] } })
  for (const encoding of ['base64', 'hex', 'utf8'] as const) expect(line).not.toContain(KEY.toString(encoding))
})

test('leaves the list of processes, then stops the app, then what the app uses', async () => {
  await start({}, { stopAfterwards: [{ stop: () => stopped.push('egress') }] })
  await service?.stop()
  expect(stopped).toEqual(['entry', 'app', 'egress', 'kafka', 'clock', 'mongo'])
  service = undefined
})

const unmet = {
  ...{ fault: () => 'A right is missing', recheck: async () => 'A right is missing', start: async () => {} },
  ...{ untilMet: () => new Promise<void>(() => {}), stop: async () => {} },
}

test('leaves the list of processes when a signal ends its start', async () => {
  const left = Promise.withResolvers<() => Promise<void>>()
  void start({}, { runsOnlyWhenMet: true, preconditions: unmet, onInterrupted: left.resolve })
  const leave = await left.promise
  await leave()
  expect(stopped).toEqual(['entry'])
})

test('leaves the list of processes when it cannot start', async () => {
  const fails = () => Promise.reject(new Error('The port is in use'))
  await expect(start({ start: fails })).rejects.toThrow('The port is in use')
  expect(stopped).toEqual(['entry'])
})

test('shows in its metrics whether it is ready', async () => {
  let reason: string | undefined = 'The process is stopping'
  const { metrics } = await start({ unready: () => reason })
  expect(await metrics.text()).toMatch(/^backstop_ready\{service="test"\} 0$/m)
  reason = undefined
  expect(await metrics.text()).toMatch(/^backstop_ready\{service="test"\} 1$/m)
})
