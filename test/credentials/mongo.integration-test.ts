/** MongoDB with TLS, logins and client certificates, as the services use it: settings from mounted files, and a real server. */
import { join } from 'node:path'
import { asUnavailable, connectMongo, type Mongo } from '@backstop/kit/mongo'
import { checkCredentials, mongoTls, readServiceConfig } from '@backstop/kit/service'
import { createCertificateAuthority, until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { probeMongo } from '../../packages/kit/src/mongo/probe-mongo.ts'
import { waitSettings } from '../../packages/provision/src/config.ts'
import { mountFiles } from '../setup/mounted-files.ts'
import { dataFolder } from '../setup/product.ts'
import { type SecureMongo, startSecureMongo } from '../setup/secure-mongo.ts'
import { runUntilExit } from '../setup/service-exit.ts'

const PASSWORD = 'first+password'
const ROTATED = 'second+password'
const folder = dataFolder('mongo-credentials')
const first = createCertificateAuthority('first')
const second = createCertificateAuthority('second')
const serverFiles = (authority = first) => ({ own: authority.issue('mongo', '127.0.0.1'), ca: authority.cert })

let server: SecureMongo
const clients: Mongo[] = []
beforeAll(async () => {
  server = await startSecureMongo(join(folder, 'server'), serverFiles())
  await server.asAdmin(async admin => {
    const roles = [{ role: 'readWrite', db: 'backstop' }]
    await admin.command({ createUser: 'backstop', pwd: PASSWORD, roles })
    await admin.client.db('$external').command({ createUser: 'CN=reconciler', roles })
  })
})
afterAll(async () => {
  await Promise.all(clients.map(client => client.stop()))
  await server?.stop()
})

const loginUrl = (password = PASSWORD) =>
  `mongodb://backstop:${encodeURIComponent(password)}@127.0.0.1:${server.port}/?directConnection=true&authSource=admin`
const x509Url = () => `mongodb://127.0.0.1:${server.port}/?directConnection=true&authMechanism=MONGODB-X509`

let mounts = 0
/** The mounted files of one program, and its settings. */
function mount(files: Readonly<Record<string, string>>) {
  mounts += 1
  const mounted = mountFiles(join(folder, `mount-${mounts}`), files)
  const paths = Object.keys(files).map(name => [`${name}_FILE`, mounted.path(name)])
  const config = readServiceConfig(waitSettings, { KAFKA_BROKERS: '127.0.0.1:1', ...Object.fromEntries(paths) })
  return { config, write: mounted.write }
}

function open({ config }: ReturnType<typeof mount>): Mongo {
  const mongo = connectMongo({ url: config.MONGO_URL, dbName: config.MONGO_DB, appName: 'test', tls: mongoTls(config) })
  clients.push(mongo)
  return mongo
}

/** Writes a document and reads it again. */
async function use({ db }: Mongo, id: string): Promise<void> {
  await db.collection<{ _id: string }>('things').insertOne({ _id: id })
  expect(await db.collection<{ _id: string }>('things').findOne({ _id: id })).toEqual({ _id: id })
}

test('a right that the user lacks is named with the user and the collection', async () => {
  const password = 'reader'
  await server.asAdmin(admin =>
    admin.command({ createUser: 'reader', pwd: password, roles: [{ role: 'read', db: 'backstop' }] }),
  )
  const url = loginUrl(password).replace('//backstop:', '//reader:')
  const { db } = open(mount({ MONGO_URL: url, MONGO_CA: first.cert }))
  const incidents = db.collection<{ _id: string }>('incidents')
  const writes = [
    () => incidents.insertOne({ _id: 'inc_1' }),
    () => incidents.updateOne({ _id: 'inc_1' }, { $set: { state: 'open' } }),
    () => incidents.bulkWrite([{ insertOne: { document: { _id: 'inc_1' } } }], { ordered: false }),
  ]
  const refusals = await Promise.all(
    writes.map(write => asUnavailable<unknown>(write).catch((error: unknown) => error)),
  )
  const message = (command: string) =>
    `MongoDB does not let the user reader run ${command} on incidents: give it this right (docs/rights.md)`
  expect(refusals).toMatchObject([
    { code: 'unavailable', message: message('insert') },
    { code: 'unavailable', message: message('update') },
    { code: 'unavailable', message: message('insert') },
  ])
})

const clientFiles = (authority = first, name = 'reconciler') => {
  const { cert, key } = authority.issue(name)
  return { MONGO_CERT: cert, MONGO_KEY: key }
}

test('a service reads and writes over TLS with a user and a password', async () => {
  const mounted = mount({ MONGO_URL: loginUrl(), MONGO_CA: first.cert })
  await checkCredentials(mounted.config)
  await use(open(mounted), 'by-password')
})

test('a service reads and writes with a client certificate alone', async () => {
  const mounted = mount({ MONGO_URL: x509Url(), MONGO_CA: first.cert, ...clientFiles() })
  await checkCredentials(mounted.config)
  await use(open(mounted), 'by-certificate')
})

const stranger = createCertificateAuthority('first')
test.each([
  {
    name: 'a wrong password',
    files: () => ({ MONGO_URL: loginUrl('wrong'), MONGO_CA: first.cert }),
    message: 'MongoDB refused the login with MONGO_URL',
  },
  {
    name: 'a certificate of no user',
    files: () => ({ MONGO_URL: x509Url(), MONGO_CA: first.cert, ...clientFiles(first, 'nobody') }),
    message: 'MongoDB refused the login with MONGO_URL and MONGO_CERT',
  },
  {
    name: 'the wrong authority',
    files: () => ({ MONGO_URL: loginUrl(), MONGO_CA: stranger.cert }),
    message: 'The certificate of MongoDB is not signed by an authority in MONGO_CA',
  },
  {
    name: 'a host that is not in the certificate',
    files: () => ({ MONGO_URL: loginUrl().replace('127.0.0.1', 'localhost'), MONGO_CA: first.cert }),
    message: 'The certificate of MongoDB is not for the host in MONGO_URL',
  },
])('$name ends the start with one message', async ({ files, message }) => {
  await expect(checkCredentials(mount(files()).config)).rejects.toMatchObject({ code: 'config_invalid', message })
})

// mongod closes the connection without a reason, as a proxy without a server does. So this must not end a program.
test.each([
  { name: 'alone', url: x509Url },
  { name: 'of the right user', url: loginUrl },
])('a client certificate of an unknown authority, $name, is reported and does not end the start', async ({ url }) => {
  const { config } = mount({ MONGO_URL: url(), MONGO_CA: first.cert, ...clientFiles(stranger) })
  await checkCredentials(config)
  const verdict = await probeMongo({ url: config.MONGO_URL, tls: mongoTls(config) })
  expect(verdict).toEqual({ kind: 'unknown', suspected: 'connection_closed' })
})

test('a service with a wrong password writes one line, and ends with the exit code for wrong settings', async () => {
  const environment = {
    SECRET_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    // Neither of them answers, so only MongoDB can be the reason.
    KAFKA_BROKERS: '127.0.0.1:1',
    SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
    MONGO_URL: loginUrl('wrong'),
    MONGO_CA: first.cert,
  }
  const end = await runUntilExit('services/reconciler/src/main.ts', environment)
  const line = 'reconciler did not start. MongoDB refused the login with MONGO_URL\n'
  expect(end).toMatchObject({ exitCode: 78, stdout: '', stderr: line })
})

test('running services go on when authority, certificates and password are replaced on both sides', async () => {
  const byPassword = mount({ MONGO_URL: loginUrl(), MONGO_CA: first.cert })
  const byCertificate = mount({ MONGO_URL: x509Url(), MONGO_CA: first.cert, ...clientFiles() })
  const opened = [open(byPassword), open(byCertificate)]
  for (const mongo of opened) await mongo.ping()
  await server.asAdmin(admin => admin.command({ updateUser: 'backstop', pwd: ROTATED }))
  await server.rotate(serverFiles(second))
  // Open connections stay.
  for (const mongo of opened) await mongo.ping()
  await server.restart()
  // The old files do not work any more.
  const pings = await Promise.allSettled(opened.map(mongo => mongo.ping()))
  expect(pings.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  byPassword.write({ MONGO_URL: loginUrl(ROTATED), MONGO_CA: second.cert })
  byCertificate.write({ MONGO_URL: x509Url(), MONGO_CA: first.cert + second.cert, ...clientFiles(second) })
  for (const [index, mongo] of opened.entries()) {
    await until('an accepted connection', () => mongo.ping().then(() => true))
    await use(mongo, `rotated-${index}`)
  }
})
