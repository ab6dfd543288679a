import { expect, test } from 'vitest'
import { readProvisionConfig } from './config.ts'

const environment = {
  KAFKA_BROKERS: 'a:9092,b:9092',
  MONGO_URL: 'mongodb://a/?replicaSet=rs',
  SCHEMA_REGISTRY_URL: 'http://a:8081',
}

test('one copy is the default, for a single machine', () => {
  expect(readProvisionConfig(environment)).toMatchObject({ TOPIC_REPLICATION: 1, TOPIC_MIN_INSYNC: 1 })
})

test('more copies to wait for than there are is refused: nothing could ever be sent', () => {
  const settings = { ...environment, TOPIC_REPLICATION: '2', TOPIC_MIN_INSYNC: '3' }
  expect(() => readProvisionConfig(settings)).toThrow(/TOPIC_MIN_INSYNC \(3\) is more than TOPIC_REPLICATION \(2\)/)
})
