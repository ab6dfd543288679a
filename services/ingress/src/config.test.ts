import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readIngressConfig, settings } from './config.ts'

const example = parseEnv(readFileSync(new URL('../.env.example', import.meta.url), 'utf8')) as Record<string, string>

describe('the settings of ingress', () => {
  test('are all in .env.example, and nothing else is', () => {
    expect(Object.keys(example).sort()).toEqual(Object.keys(settings).sort())
  })

  test('are valid as .env.example has them, and those with a default are shown with it', () => {
    const required = ['KAFKA_BROKERS', 'MONGO_URL', 'SCHEMA_REGISTRY_URL', 'SECRET_KEYS']
    const least = Object.fromEntries(required.map(name => [name, example[name]]))
    const { OPS_PORT, MONGO_URL, ...shown } = readIngressConfig(example)
    expect(readIngressConfig(least)).toMatchObject(shown)
    expect([OPS_PORT, `${MONGO_URL}`]).toEqual([9101, '[secret]'])
  })

  test('fold header names to lower case', () => {
    const config = readIngressConfig({ ...example, PROCESSOR_SIGNATURE_HEADERS: 'X-Signature, Stripe-Signature' })
    expect(config.PROCESSOR_SIGNATURE_HEADERS).toEqual(['x-signature', 'stripe-signature'])
  })

  test('report every fault at once', () => {
    const faulty = {
      ...example,
      PUBLISH_TIMEOUT_MS: '5000',
      RESELLER_SIGNATURE_HEADERS: 'a b',
      SECRET_KEYS: 'k1:short',
      MONGO_URL: undefined,
    }
    expect(() => readIngressConfig(faulty)).toThrow(
      /4 error[\s\S]*MONGO_URL: is required[\s\S]*SECRET_KEYS: [\s\S]*RESELLER_SIGNATURE_HEADERS: Give header names[\s\S]*PUBLISH_TIMEOUT_MS: /,
    )
  })

  test('refuse a list of no headers: nothing could be authenticated', () => {
    expect(() => readIngressConfig({ ...example, PROCESSOR_SIGNATURE_HEADERS: ',' })).toThrow(
      'PROCESSOR_SIGNATURE_HEADERS',
    )
  })
})
