import { expect, test } from 'vitest'
import { databaseName, environmentOf, type ProductContext, SERVICES } from './service-environment.ts'

const context: ProductContext = {
  stack: { kafka: '127.0.0.1:1', mongo: 'mongodb://m', registry: 'http://r', smtp: 'smtp://s', mail: 'http://mail' },
  secrets: { secretKeys: 'k:AAAA', bootstrapKey: 'bsk_test' },
  ingressUrl: 'http://ingress',
  adminUrl: 'http://admin',
  topicPrefix: 'e2e-7.',
  recheckDelayMs: 1_234,
}

test('every service finds Kafka, MongoDB and the registry under the same prefix', () => {
  for (const service of SERVICES) {
    expect(environmentOf(service, { ops: 9 }, context)).toMatchObject({
      OPS_PORT: '9',
      KAFKA_BROKERS: '127.0.0.1:1',
      KAFKA_TOPIC_PREFIX: 'e2e-7.',
      MONGO_URL: 'mongodb://m',
      MONGO_DB: 'backstop-e2e-7',
      SCHEMA_REGISTRY_URL: 'http://r',
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    })
  }
})

test('only the reconciler gets the recheck delay, and only admin-api the bootstrap key', () => {
  const with_ = (name: string) =>
    SERVICES.filter(service => Object.hasOwn(environmentOf(service, { ops: 9 }, context), name))
  expect(with_('RECHECK_DELAY_MS')).toEqual(['reconciler'])
  expect(with_('BOOTSTRAP_API_KEY')).toEqual(['admin-api'])
})

test('the notifier and admin-api link to the same console', () => {
  const publicUrls = SERVICES.map(service => environmentOf(service, { ops: 9 }, context).PUBLIC_URL)
  expect(publicUrls).toEqual([undefined, undefined, 'http://admin', 'http://admin'])
})

test.each([
  { name: 'no prefix', prefix: '', database: 'backstop' },
  { name: 'a prefix with dots', prefix: 'test.a.', database: 'backstop-test-a' },
])('$name makes the database $database', ({ prefix, database }) => {
  expect(databaseName(prefix)).toBe(database)
})
