/** Kafka with TLS, logins and client certificates, as the services use it: settings from mounted files, and a real broker. */
import { join } from 'node:path'
import { type Bus, createKafkaBus, createTopicAdmin, type Producer } from '@backstop/kit/bus'
import { createLogger } from '@backstop/kit/logger'
import { checkCredentials, kafkaCredentials, readServiceConfig } from '@backstop/kit/service'
import { createCertificateAuthority, until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitSettings } from '../../packages/provision/src/config.ts'
import { mountFiles } from '../setup/mounted-files.ts'
import { dataFolder } from '../setup/product.ts'
import { type SecureKafka, startSecureKafka } from '../setup/secure-kafka.ts'
import { runUntilExit } from '../setup/service-exit.ts'

const folder = dataFolder('kafka-credentials')
const first = createCertificateAuthority('first')
const second = createCertificateAuthority('second')
const stranger = createCertificateAuthority('first')
const PASSWORDS = { PLAIN: 'first-plain', 'SCRAM-SHA-512': 'first-scram' } as const
const ROTATED = { PLAIN: 'second-plain', 'SCRAM-SHA-512': 'second-scram' } as const
type Mechanism = keyof typeof PASSWORDS
const brokerFiles = (authority = first, { PLAIN: plainPassword }: { PLAIN: string } = PASSWORDS) => ({
  own: authority.issue('kafka', '127.0.0.1'),
  ca: authority.cert,
  plainPassword,
})

let kafka: SecureKafka
const stops: (() => Promise<void>)[] = []
beforeAll(async () => {
  kafka = await startSecureKafka(join(folder, 'broker'), brokerFiles())
  const admin = createTopicAdmin({ brokers: [kafka.openBroker], clientId: 'test', logger: silent })
  await Promise.all([
    setScramPassword(PASSWORDS['SCRAM-SHA-512']),
    admin
      .connect()
      .then(() => admin.create([{ name: 'operations', partitions: 1, replication: 1, config: {} }]))
      .then(() => admin.stop()),
  ])
})
afterAll(async () => {
  await Promise.all(stops.map(stop => stop()))
  await kafka?.stop()
})

const silent = createLogger('test', 'silent')
/** The command of docs/tls.md. */
const setScramPassword = (password: string) =>
  kafka.runConfigs(
    ...['--alter', '--entity-type', 'users', '--entity-name', 'backstop'],
    ...['--add-config', `SCRAM-SHA-512=[password=${password}]`],
  )

const loginFiles = (password: string, ca = first.cert) => ({
  KAFKA_CA: ca,
  KAFKA_SASL_USERNAME: 'backstop',
  KAFKA_SASL_PASSWORD: `${password}\n`,
})
const certificateFiles = (authority = first) => {
  const { cert, key } = authority.issue('reconciler')
  return { KAFKA_CA: authority.cert, KAFKA_CERT: cert, KAFKA_KEY: key }
}

interface Case {
  readonly name: string
  readonly mechanism: Mechanism | undefined
  readonly files: () => Readonly<Record<string, string>>
  readonly rotated: () => Readonly<Record<string, string>>
}

const byLogin = (mechanism: Mechanism): Case => ({
  name: mechanism,
  mechanism,
  files: () => loginFiles(PASSWORDS[mechanism]),
  rotated: () => loginFiles(ROTATED[mechanism], second.cert),
})
const cases: readonly Case[] = [
  byLogin('PLAIN'),
  byLogin('SCRAM-SHA-512'),
  { name: 'mTLS', mechanism: undefined, files: certificateFiles, rotated: () => certificateFiles(second) },
]

let mounts = 0
/** The mounted files of one program, and its settings. */
function mount(mechanism: Mechanism | undefined, files: Readonly<Record<string, string>>, broker?: string) {
  mounts += 1
  const mounted = mountFiles(join(folder, `mount-${mounts}`), files)
  const environment: Record<string, string> = { MONGO_URL: 'mongodb://127.0.0.1:1/' }
  environment.KAFKA_BROKERS = broker ?? (mechanism === undefined ? kafka.certificateBroker : kafka.loginBroker)
  if (mechanism !== undefined) environment.KAFKA_SASL_MECHANISM = mechanism
  for (const name of Object.keys(files)) environment[`${name}_FILE`] = mounted.path(name)
  return { config: readServiceConfig(waitSettings, environment), write: mounted.write }
}

/** A producer, and the values that a consumer of its own group receives. */
async function open({ config }: ReturnType<typeof mount>, group: string) {
  const connection = { brokers: config.KAFKA_BROKERS, clientId: 'test', logger: silent, ...kafkaCredentials(config) }
  // With a watch that ends nothing, refused connections are retried, as in a service during its time for a rotation.
  const watch = { accepted() {}, failed() {}, suspected() {}, stop() {} }
  const bus: Bus = createKafkaBus({ ...connection, watch, sessionTimeoutMs: 6_000 })
  const producer: Producer = bus.producer({ sendTimeoutMs: 3_000 })
  const received = new Set<string>()
  const consumer = bus.consumer({
    groupId: group,
    topics: ['operations'],
    commit: 'accepted',
    async onBatch({ messages }) {
      for (const { value } of messages) received.add(String(value))
      return { accepted: messages.length }
    },
    onFatal: error => received.add(`fatal: ${error}`),
  })
  await Promise.all([producer.start(), consumer.start()])
  stops.push(async () => void (await Promise.all([producer.stop(), consumer.stop()])))
  const send = (text: string) =>
    producer.send([{ topic: 'operations', key: group, value: Buffer.from(text), headers: {} }])
  return { send, received }
}

test.each(cases)('$name: a service produces and consumes', async ({ mechanism, files, name }) => {
  const mounted = mount(mechanism, files())
  await checkCredentials(mounted.config)
  const { send, received } = await open(mounted, `plain-${name}`)
  await send(`from ${name}`)
  await until('the message', () => received.has(`from ${name}`), { seen: () => [...received] })
})

test.each([
  {
    name: 'PLAIN: a wrong password',
    mounted: () => mount('PLAIN', loginFiles('wrong')),
    message: 'Kafka refused the login with KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD',
  },
  {
    name: 'SCRAM-SHA-512: a wrong password',
    mounted: () => mount('SCRAM-SHA-512', loginFiles('wrong')),
    message: 'Kafka refused the login with KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD',
  },
  {
    name: 'PLAIN: the wrong authority',
    mounted: () => mount('PLAIN', loginFiles(PASSWORDS.PLAIN, stranger.cert)),
    message: 'The certificate of Kafka is not signed by an authority in KAFKA_CA',
  },
  {
    name: 'SCRAM-SHA-512: the wrong authority',
    mounted: () => mount('SCRAM-SHA-512', loginFiles(PASSWORDS['SCRAM-SHA-512'], second.cert)),
    message: 'The certificate of Kafka is not signed by an authority in KAFKA_CA',
  },
  {
    name: 'mTLS: the wrong authority',
    mounted: () => mount(undefined, { ...certificateFiles(), KAFKA_CA: stranger.cert }),
    message: 'The certificate of Kafka is not signed by an authority in KAFKA_CA',
  },
  {
    name: 'mTLS: a client certificate of an unknown authority',
    mounted: () => mount(undefined, { ...certificateFiles(stranger), KAFKA_CA: first.cert }),
    message: /^Kafka refused the client certificate in KAFKA_CERT \(CN=reconciler, valid until \d{4}-\d\d-\d\d\)$/,
  },
  {
    name: 'mTLS: no client certificate',
    mounted: () => mount(undefined, { KAFKA_CA: first.cert }),
    message: 'Kafka requires a client certificate: set KAFKA_CERT',
  },
])('$name ends the start with one message', async ({ mounted, message }) => {
  const outcome = await checkCredentials(mounted().config).catch((error: unknown) => error)
  expect(outcome).toMatchObject({ code: 'config_invalid' })
  if (typeof message === 'string') expect((outcome as Error).message).toBe(message)
  else expect((outcome as Error).message).toMatch(message)
})

test.each(['services/ingress/src/main.ts', 'packages/provision/src/main.ts', 'packages/provision/src/wait-main.ts'])(
  '%s with a wrong password writes one line, and ends with the exit code for wrong settings',
  async program => {
    const end = await runUntilExit(program, {
      SECRET_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
      KAFKA_BROKERS: kafka.loginBroker,
      KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
      ...loginFiles('wrong'),
      // Neither of them answers, so only Kafka can be the reason.
      MONGO_URL: 'mongodb://127.0.0.1:1/',
      SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
    })
    expect(end).toMatchObject({ exitCode: 78, stdout: '' })
    expect(end.stderr).toMatch(/^[^\n]*Kafka refused the login with KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD\n$/)
  },
)

test('running services go on when authority, certificates and passwords are replaced on both sides', async () => {
  const running = await Promise.all(
    cases.map(async ({ name, mechanism, files, rotated }) => {
      const mounted = mount(mechanism, files())
      return { name, rotated, mounted, ...(await open(mounted, `rotated-${name}`)) }
    }),
  )
  await Promise.all(running.map(({ send, name }) => send(`before ${name}`)))
  for (const { received, name } of running) await until('the consumers', () => received.has(`before ${name}`))
  await setScramPassword(ROTATED['SCRAM-SHA-512'])
  await kafka.restart(brokerFiles(second, ROTATED))
  // The old files do not work any more.
  const sends = await Promise.allSettled(running.map(({ send }) => send('with old files')))
  expect(sends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  for (const { mounted, rotated } of running) mounted.write(rotated())
  for (const { send, received, name } of running) {
    await until('an accepted connection', () => send(`after ${name}`).then(() => true), { timeoutMs: 30_000 })
    await until('the message', () => received.has(`after ${name}`), { timeoutMs: 30_000, seen: () => [...received] })
  }
})
