import { describe, expect, test } from 'vitest'
import { readConfig } from '../config/config.ts'
import { commonSettings, readServiceConfig } from './settings.ts'

const good = {
  KAFKA_BROKERS: 'a:9092',
  MONGO_URL: 'mongodb://u:p%2F@db/?replicaSet=rs',
  SCHEMA_REGISTRY_URL: 'http://r',
}
const read = (change: Record<string, string>) => readConfig(commonSettings, { ...good, ...change })

describe('the settings that every service has', () => {
  test('are taken, and the URL of MongoDB becomes a secret', () => {
    expect(read({}).MONGO_URL.reveal()).toBe(good.MONGO_URL)
  })

  test.each([
    'http://db',
    'db:27017',
    'mongodb://user:hun:canary@db',
    'mongodb://user:can%zzary@db',
    'mongodb://user:canary@db:99999',
    'mongodb://user:canary@db/?no_such_option=1',
  ])('refuse %s for MongoDB at the start, with a remedy and without showing it', url => {
    expect(() => read({ MONGO_URL: url })).toThrow(/MONGO_URL: Begin with mongodb:\/\/ or/)
    expect(() => read({ MONGO_URL: url })).not.toThrow(/canary/)
  })

  test.each([
    { url: 'http://us%er:canary@registry', remedy: 'Percent-encode user and password' },
    { url: 'registry:8081', remedy: 'Give a whole URL that begins with http:// or https://' },
  ])('refuse $url for the schema registry at the start, with a remedy and without showing it', ({ url, remedy }) => {
    const act = () => read({ SCHEMA_REGISTRY_URL: url })
    expect(act).toThrow(`SCHEMA_REGISTRY_URL: ${remedy}`)
    expect(act).not.toThrow(/canary/)
  })

  test.each([
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'parentbased_jaeger_remote' },
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_SDK_DISABLED: 'True',
    },
  ])('do not judge %j, which other programs use, while traces are off', foreign => {
    expect(readServiceConfig(commonSettings, { ...good, ...foreign }).OTEL_EXPORTER_OTLP_ENDPOINT).toBeUndefined()
  })

  test('refuse a protocol that traces cannot use', () => {
    const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }
    expect(() => readServiceConfig(commonSettings, { ...good, ...traces })).toThrow('Give http/json')
  })

  test('say what a topic prefix and a broker look like', () => {
    expect(() => read({ KAFKA_TOPIC_PREFIX: 'A_B', KAFKA_BROKERS: 'localhost' })).toThrow(
      /KAFKA_BROKERS: Give host:port[\s\S]*KAFKA_TOPIC_PREFIX: Use small letters/,
    )
  })
})
