import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AppError } from '../errors.ts'
import { createLogger } from '../logger.ts'
import { type CredentialWatch, watchCredentials } from './credential-watch.ts'
import { RefusedError } from './refusal.ts'

const MESSAGE = 'Kafka refused the login with KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD'
const refusal = new RefusedError('login_refused', 'wrong password')
let watch: CredentialWatch
let fatal: AppError[]
let lines: { msg: string }[]
beforeEach(() => {
  vi.useFakeTimers()
  fatal = []
  lines = []
  watch = watchCredentials({
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
    graceMs: 1_000,
  })
})
afterEach(() => {
  watch.stop()
  vi.useRealTimers()
})

test('credentials that were never accepted end the process at the first refusal, once', () => {
  watch.failed(refusal)
  watch.failed(refusal)
  expect(fatal.map(({ code, message }) => [code, message])).toEqual([['config_invalid', MESSAGE]])
  expect(lines).toEqual([])
})

test('a broker that does not answer never ends the process', () => {
  for (let attempt = 0; attempt < 100; attempt++) watch.failed(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }))
  vi.advanceTimersByTime(1_000_000)
  expect(fatal).toEqual([])
})

test('accepted credentials have time for a rotation, which is logged once at its begin and at its end', () => {
  watch.accepted()
  watch.failed(refusal)
  watch.failed(refusal)
  vi.advanceTimersByTime(999)
  watch.accepted()
  vi.advanceTimersByTime(1_000_000)
  expect(fatal).toEqual([])
  expect(lines.map(({ msg }) => msg)).toEqual(['credentials.refused', 'credentials.accepted'])
})

test('credentials that stay refused after a rotation end the process', () => {
  watch.accepted()
  watch.failed(refusal)
  vi.advanceTimersByTime(1_000)
  expect(fatal.map(({ message }) => message)).toEqual([MESSAGE])
})
