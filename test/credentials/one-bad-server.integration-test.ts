/** One member of MongoDB, or one bootstrap broker of Kafka, has a wrong certificate: nobody may stop because of it. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { createTopicAdmin } from '@backstop/kit/bus'
import type { AppError } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { connectMongo } from '@backstop/kit/mongo'
import { checkCredentials, kafkaCredentials, mongoTls, readServiceConfig } from '@backstop/kit/service'
import { createCertificateAuthority, until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { probeKafka } from '../../packages/kit/src/bus/probe-kafka.ts'
import { CredentialWatch } from '../../packages/kit/src/credentials/credential-watch.ts'
import type { Verdict } from '../../packages/kit/src/credentials/verdict.ts'
import { probeMongo } from '../../packages/kit/src/mongo/probe-mongo.ts'
import { kafkaRefusalContext, mongoRefusalContext } from '../../packages/kit/src/service/connections.ts'
import { waitSettings } from '../../packages/provision/src/config.ts'
import { dataFolder } from '../setup/product.ts'
import { type RefusingServer, startRefusingServer } from '../setup/refusing-server.ts'
import { type SecureKafka, startSecureKafka } from '../setup/secure-kafka.ts'
import { type SecureMongo, startSecureMongo } from '../setup/secure-mongo.ts'

const folder = dataFolder('one-bad-server')
const authority = createCertificateAuthority('first')
const stranger = createCertificateAuthority('first')
const GRACE_MS = 1_000
const NOT_SIGNED = 'is not signed by an authority in'

let mongo: SecureMongo
let kafka: SecureKafka
let bad: RefusingServer
let silent: RefusingServer
beforeAll(async () => {
  const own = authority.issue('server', '127.0.0.1')
  bad = await startRefusingServer(stranger.issue('server', '127.0.0.1'))
  silent = await startRefusingServer(own)
  ;[mongo, kafka] = await Promise.all([
    startSecureMongo(join(folder, 'mongo'), { own, ca: authority.cert }, 'backstop'),
    startSecureKafka(join(folder, 'kafka'), { own, ca: authority.cert, plainPassword: 'password' }),
  ])
  await mongo.addMember(bad.address)
})
afterAll(() => Promise.all([mongo, kafka, bad, silent].map(server => server?.stop())))

const mongoUrl = (...hosts: string[]) => `mongodb://${hosts.join(',')}/?replicaSet=backstop`
const configOf = (environment: Record<string, string>) =>
  readServiceConfig(waitSettings, {
    KAFKA_BROKERS: '127.0.0.1:1',
    MONGO_URL: 'mongodb://127.0.0.1:1/',
    MONGO_CA: authority.cert,
    ...environment,
  })
const kafkaConfig = (...brokers: string[]) =>
  configOf({
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_CA: authority.cert,
    KAFKA_SASL_MECHANISM: 'PLAIN',
    KAFKA_SASL_USERNAME: 'backstop',
    KAFKA_SASL_PASSWORD: 'password',
  })

/** A watch with its log events and the errors that would end the process. */
function watchWith(probe: () => Promise<Verdict>, context: ReturnType<typeof mongoRefusalContext>) {
  const lines: { msg: string; reason: string }[] = []
  const fatal: AppError[] = []
  const logger = createLogger('test', 'info', { write: line => void lines.push(JSON.parse(line)) })
  const onFatal = (error: AppError) => void fatal.push(error)
  const watch = new CredentialWatch({ context: () => context, logger, probe, onFatal, graceMs: GRACE_MS })
  return { watch, lines, fatal }
}

test.each(['first', 'last'])('MongoDB: the start succeeds if the %s host has a wrong certificate', async place => {
  const good = `127.0.0.1:${mongo.port}`
  const url = place === 'first' ? mongoUrl(bad.address, good) : mongoUrl(good, bad.address)
  await checkCredentials(configOf({ MONGO_URL: url }))
})

test('MongoDB: the start fails if all hosts have a wrong certificate', async () => {
  const check = checkCredentials(configOf({ MONGO_URL: mongoUrl(bad.address) }))
  await expect(check).rejects.toMatchObject({ code: 'config_invalid' })
  await expect(check).rejects.toThrow(`The certificate of MongoDB ${NOT_SIGNED} MONGO_CA`)
})

test('MongoDB: a running service goes on while a member has a wrong certificate, and names the reason', async () => {
  const config = configOf({ MONGO_URL: mongoUrl(`127.0.0.1:${mongo.port}`) })
  const tls = mongoTls(config)
  const probe = () => probeMongo({ url: config.MONGO_URL, tls })
  const { watch, lines, fatal } = watchWith(probe, mongoRefusalContext(tls))
  const client = connectMongo({ url: config.MONGO_URL, dbName: 'test', appName: 'test', tls, watch })
  try {
    await until('the warning', () => lines.length > 0, { timeoutMs: 60_000 })
    // The monitor reports the member again after the time in which refused credentials end a process.
    const before = bad.connections()
    await until('more refused connections', () => bad.connections() >= before + 2, { timeoutMs: 60_000 })
    await client.ping()
    expect(fatal).toEqual([])
    expect(lines).toMatchObject([
      { msg: 'credentials.refused_by_a_server', reason: `The certificate of MongoDB ${NOT_SIGNED} MONGO_CA` },
    ])
  } finally {
    watch.stop()
    await client.stop()
  }
})

// A proxy without a server behind it does the same as mongod that refuses a client certificate.
test('MongoDB: a server that closes connections after the handshake never ends a process, and is reported', async () => {
  const config = configOf({ MONGO_URL: mongoUrl(silent.address) })
  await checkCredentials(config)
  const tls = mongoTls(config)
  const probe = () => probeMongo({ url: config.MONGO_URL, tls })
  const { watch, lines, fatal } = watchWith(probe, mongoRefusalContext(tls))
  const client = connectMongo({ url: config.MONGO_URL, dbName: 'test', appName: 'test', tls, watch })
  try {
    await until('the warning', () => lines.length > 0, { timeoutMs: 60_000 })
    expect(lines[0]!.reason).toMatch(/closes every connection after the TLS handshake/)
    expect(fatal).toEqual([])
  } finally {
    watch.stop()
    await client.stop()
  }
})

test.each(['first', 'last'])(
  'Kafka: the start succeeds if the %s bootstrap broker has a wrong certificate',
  async place => {
    const brokers = place === 'first' ? [bad.address, kafka.loginBroker] : [kafka.loginBroker, bad.address]
    await checkCredentials(kafkaConfig(...brokers))
  },
)

test('Kafka: the start fails if all bootstrap brokers have a wrong certificate', async () => {
  const check = checkCredentials(kafkaConfig(bad.address, bad.address))
  await expect(check).rejects.toMatchObject({ code: 'config_invalid' })
  await expect(check).rejects.toThrow(`The certificate of Kafka ${NOT_SIGNED} KAFKA_CA`)
})

test('Kafka: the start succeeds if the only bootstrap address leads to the bad broker first', async () => {
  const balancer = await startBalancer([bad.address, bad.address, kafka.loginBroker])
  try {
    await checkCredentials(kafkaConfig(balancer.address))
  } finally {
    await balancer.stop()
  }
})

/** One address whose connections go to these servers one after the other, and then to the last one. */
async function startBalancer(servers: readonly string[]) {
  let count = 0
  const server = createServer(client => {
    const [host, port] = (servers[count] ?? servers.at(-1) ?? '').split(':')
    count += 1
    const upstream = connect(Number(port), host)
    client.pipe(upstream).pipe(client)
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { address, stop: () => new Promise<void>(resolve => void server.close(() => resolve())) }
}

test('Kafka: a running service goes on if its first bootstrap broker has a wrong certificate', async () => {
  const config = kafkaConfig(bad.address, kafka.loginBroker)
  const credentials = kafkaCredentials(config)
  const probe = () => probeKafka({ brokers: config.KAFKA_BROKERS, ...credentials })
  const { watch, lines, fatal } = watchWith(probe, kafkaRefusalContext(credentials))
  const logger = createLogger('test', 'silent')
  const admin = createTopicAdmin({ brokers: config.KAFKA_BROKERS, clientId: 'test', logger, ...credentials, watch })
  try {
    await admin.connect()
    await until('the warning', () => lines.length > 0, { timeoutMs: 60_000 })
    expect(fatal).toEqual([])
    expect(lines).toMatchObject([
      { msg: 'credentials.refused_by_a_server', reason: `The certificate of Kafka ${NOT_SIGNED} KAFKA_CA` },
    ])
  } finally {
    watch.stop()
    await admin.stop()
  }
})
