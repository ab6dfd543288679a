import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AppError } from '../errors.ts'
import { createLogger } from '../logger.ts'
import { CredentialWatch } from './credential-watch.ts'
import { RefusedError } from './refusal.ts'
import type { Verdict } from './verdict.ts'

const MESSAGE = 'Kafka refused the login with KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD'
const GRACE_MS = 180_000
const refusal = new RefusedError('login_refused', 'wrong password')
const accepted: Verdict = { kind: 'accepted' }
const refused: Verdict = { kind: 'refused', refusal: 'login_refused' }
const unknown: Verdict = { kind: 'unknown', suspected: undefined }
let verdict: Verdict | Promise<Verdict>
let probes: number
let watch: CredentialWatch
let fatal: AppError[]
let lines: { msg: string; reason?: string }[]
beforeEach(() => {
  vi.useFakeTimers()
  fatal = []
  lines = []
  probes = 0
  verdict = accepted
  watch = new CredentialWatch({
    context: () => ({
      dependency: 'Kafka',
      addressSetting: 'KAFKA_BROKERS',
      caSetting: 'KAFKA_CA',
      certSetting: 'KAFKA_CERT',
      loginSettings: 'KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD',
      certificate: undefined,
    }),
    logger: createLogger('test', 'info', { write: line => void lines.push(JSON.parse(line)) }),
    onFatal: error => void fatal.push(error),
    probe: async () => {
      probes += 1
      return verdict
    },
  })
})
afterEach(() => {
  watch.stop()
  vi.useRealTimers()
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const events = () => lines.map(({ msg }) => msg)
/** A connection is refused every ten seconds, as the driver's monitor of a server with a wrong certificate reports it. */
async function refuseFor(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10_000) {
    watch.failed(refusal)
    await pass(10_000)
  }
}

test('one server that refuses does not end a process that another server accepts, at its start and later', async () => {
  await refuseFor(10 * GRACE_MS)
  expect(fatal).toEqual([])
  // It is reported, but not for each connection.
  expect(new Set(events())).toEqual(new Set(['credentials.refused_by_a_server']))
  expect(lines[0]!.reason).toBe(MESSAGE)
  expect(lines.length).toBeLessThanOrEqual(4)
})

test('credentials that were never accepted end the process at the first refused probe, once', async () => {
  verdict = refused
  watch.failed(refusal)
  watch.failed(refusal)
  await pass(0)
  expect(fatal.map(({ code, message }) => [code, message])).toEqual([['config_invalid', MESSAGE]])
  await refuseFor(GRACE_MS)
  expect(fatal).toHaveLength(1)
  expect(lines).toEqual([])
})

test('a broker that does not answer never ends the process, and is not probed', async () => {
  verdict = refused
  for (let attempt = 0; attempt < 100; attempt++) watch.failed(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }))
  await pass(10 * GRACE_MS)
  expect([fatal, probes]).toEqual([[], 0])
})

test('a probe without an answer never ends the process', async () => {
  verdict = unknown
  await refuseFor(10 * GRACE_MS)
  expect(fatal).toEqual([])
})

test('a probe that throws never ends the process', async () => {
  verdict = Promise.reject(new Error('no'))
  await refuseFor(GRACE_MS * 2)
  expect(fatal).toEqual([])
})

test('a suspicion that no probe confirms is logged, and never ends the process', async () => {
  verdict = { kind: 'unknown', suspected: 'connection_closed' }
  watch.suspected('connection_closed')
  await pass(10 * GRACE_MS)
  expect(fatal).toEqual([])
  expect(events()).toEqual(['credentials.refused_by_a_server'])
})

test('accepted credentials have time for a rotation, which is logged once at its begin and at its end', async () => {
  watch.accepted()
  verdict = refused
  await refuseFor(GRACE_MS - 20_000)
  verdict = accepted
  // No connection reports anything more: the watch itself repeats the probe.
  await pass(10 * GRACE_MS)
  expect(fatal).toEqual([])
  expect(events()).toEqual(['credentials.refused', 'credentials.accepted'])
})

test('credentials that stay refused after a rotation end the process', async () => {
  watch.accepted()
  verdict = refused
  watch.failed(refusal)
  await pass(GRACE_MS - 1)
  expect(fatal).toEqual([])
  await pass(1)
  expect(fatal.map(({ message }) => message)).toEqual([MESSAGE])
})

test('the last probe before the end decides', async () => {
  watch.accepted()
  verdict = refused
  watch.failed(refusal)
  await pass(GRACE_MS - 1)
  verdict = accepted
  await pass(1)
  expect(fatal).toEqual([])
  // A later rotation has its own time.
  verdict = refused
  await refuseFor(GRACE_MS - 20_000)
  expect(fatal).toEqual([])
  expect(events()).toEqual(['credentials.refused', 'credentials.accepted', 'credentials.refused'])
})

test('a dependency that stops while it refuses does not end the process until it refuses again', async () => {
  watch.accepted()
  verdict = refused
  watch.failed(refusal)
  await pass(1_000)
  verdict = unknown
  await pass(2 * GRACE_MS)
  expect(fatal).toEqual([])
  verdict = refused
  await pass(10_000)
  expect(fatal).toHaveLength(1)
})

test('many refused connections start few probes, one at a time', async () => {
  const slow = Promise.withResolvers<Verdict>()
  verdict = slow.promise
  for (let count = 0; count < 100; count++) watch.failed(refusal)
  await pass(1_000)
  expect(probes).toBe(1)
  verdict = accepted
  slow.resolve(accepted)
  for (let count = 0; count < 590; count++) {
    watch.failed(refusal)
    await pass(100)
  }
  expect(probes).toBe(1)
  await pass(2_000)
  expect(probes).toBe(2)
})
