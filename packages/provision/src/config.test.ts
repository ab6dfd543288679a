import { expect, test } from 'vitest'
import { readNetworkPolicyConfig, readProvisionConfig } from './config.ts'

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

test('what the self-test tries is a list of addresses and names with ports', () => {
  expect(
    readNetworkPolicyConfig({
      NETWORK_POLICY_TARGETS: '169.254.169.254:80, backstop-network-policy-check:9090,[fd00:ec2::254]:80',
    }),
  ).toEqual({
    NETWORK_POLICY_TARGETS: [
      { host: '169.254.169.254', port: 80 },
      { host: 'backstop-network-policy-check', port: 9090 },
      { host: 'fd00:ec2::254', port: 80 },
    ],
  })
})

test.each(['', '169.254.169.254', 'a:0', 'a:65536', 'fd00:ec2::254:80', '[a]:80', 'http://a:80', 'a:80,b'])(
  'a self-test of %j is refused: it would prove nothing, or something else',
  text => {
    expect(() => readNetworkPolicyConfig({ NETWORK_POLICY_TARGETS: text })).toThrow(
      /NETWORK_POLICY_TARGETS: Give at least one host:port/,
    )
  },
)
