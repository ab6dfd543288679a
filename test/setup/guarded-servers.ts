/** A MongoDB and a Kafka with access control, as processes on this machine, and users with the rights of packages/contracts/src/rights.ts. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DOCTOR_RIGHTS, mongoRightsOf, type ProgramName, type ProgramRights, RIGHTS } from '@backstop/contracts'
import { choosePorts, endProcess, identify, silentProgress } from '@backstop/stack'
import kafkajs, { type Admin } from 'kafkajs'
import { type Db, MongoClient } from 'mongodb'
import { ensurePrograms } from '../../stack/src/downloads/ensure-programs.ts'
import { EmbeddedPart } from '../../stack/src/embedded-part.ts'
import { StackRecordFile } from '../../stack/src/part-records.ts'
import { kafkaProgram } from '../../stack/src/parts/kafka.ts'
import { mongoProgram, mongoUrl } from '../../stack/src/parts/mongo.ts'
import { startReaper } from '../../stack/src/reaper.ts'

export const PROGRAMS = Object.keys(RIGHTS) as ProgramName[]
const PASSWORD = 'password'

export interface GuardedServers {
  /** The URL of an administrator. */
  readonly mongo: string
  /** The address of an administrator, without a login. */
  readonly kafka: string
  readonly admin: { readonly db: Db; readonly kafka: Admin }
  /** The settings by which a program logs in as the user of its name. */
  loginOf(program: ProgramName): Record<string, string>
  /** The refusals in the servers' logs. */
  refusals(): string[]
  stop(): Promise<void>
}

/** @param folder for data and logs */
export async function startGuardedServers(folder: string): Promise<GuardedServers> {
  const { mongod, java, kafkaJars: jars } = await ensurePrograms(['mongo', 'kafka'], process.env, silentProgress)
  const ports = await choosePorts({ mongo: {}, open: {}, login: {}, controller: {} })
  const logs = join(folder, 'logs')
  mkdirSync(join(folder, 'kafka'), { recursive: true })
  const records = new StackRecordFile(folder)
  const own = identify(process.pid)!
  const mongo = new EmbeddedPart(guardedMongo(mongod, join(folder, 'mongo'), ports.mongo), records, logs, own)
  const broker = new EmbeddedPart(guardedKafka({ java, jars, dir: join(folder, 'kafka') }, ports), records, logs, own)
  const reaper = startReaper(folder)
  await Promise.all([mongo.start(), broker.start()])
  const url = (user: string) =>
    mongoUrl(ports.mongo).replace('//', `//${user}:${PASSWORD}@`).concat('&authSource=admin')
  // Without any user, a client on this machine may create the first one.
  const first = await new MongoClient(mongoUrl(ports.mongo)).connect()
  await first.db('admin').command({ createUser: 'root', pwd: PASSWORD, roles: ['root'] })
  await first.close()
  const client = await new MongoClient(url('root')).connect()
  const admin = new kafkajs.Kafka({
    brokers: [`127.0.0.1:${ports.open}`],
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin()
  await admin.connect()
  return {
    mongo: url('root'),
    kafka: `127.0.0.1:${ports.open}`,
    admin: { db: client.db('admin'), kafka: admin },
    loginOf: program => ({
      MONGO_URL: url(program),
      KAFKA_BROKERS: `127.0.0.1:${ports.login}`,
      KAFKA_TLS: 'off',
      KAFKA_SASL_MECHANISM: 'PLAIN',
      KAFKA_SASL_USERNAME: program,
      KAFKA_SASL_PASSWORD: PASSWORD,
    }),
    refusals: () =>
      ['mongo', 'kafka'].flatMap(name =>
        readFileSync(join(logs, `${name}.log`), 'utf8')
          .split('\n')
          // Clients without a login end their sessions in vain.
          .filter(line => /not authorized(?!.*endSessions)| is Denied /.test(line)),
      ),
    async stop() {
      await Promise.all([client.close(), admin.disconnect()])
      await Promise.all([mongo.stop(), broker.stop()])
      if (reaper !== undefined) await endProcess(reaper)
    },
  }
}

function guardedMongo(mongod: string, dir: string, port: number) {
  const base = mongoProgram({ mongod, dir, port })
  const keyPath = join(dir, 'members.key')
  const key = randomBytes(60).toString('base64')
  mkdirSync(dir, { recursive: true })
  // Only the owner may read it. A file keeps its mode when the part writes it again.
  writeFileSync(keyPath, key, { mode: 0o600 })
  return {
    ...base,
    args: [...base.args, '--keyFile', keyPath],
    files: { [keyPath]: key },
    async checkReady() {
      const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`)
      try {
        const hello = await client.db('admin').command({ hello: 1 })
        if (hello.isWritablePrimary === true) return
        const members = [{ _id: 0, host: `127.0.0.1:${port}` }]
        if (hello.setName === undefined)
          await client.db('admin').command({ replSetInitiate: { _id: 'backstop', members } })
        throw new Error('The replica set has no primary yet')
      } finally {
        await client.close()
      }
    },
  }
}

function guardedKafka(
  programs: { readonly java: string; readonly jars: string; readonly dir: string },
  ports: { readonly open: number; readonly login: number; readonly controller: number },
) {
  const base = kafkaProgram({ ...programs, port: ports.open, controllerPort: ports.controller })
  const listeners = [`PLAINTEXT://127.0.0.1:${ports.open}`, `LOGIN://127.0.0.1:${ports.login}`]
  const users = PROGRAMS.map(program => `user_${program}="${PASSWORD}"`).join(' ')
  // The last line of a setting counts.
  const properties = [
    `listeners=${[...listeners, `CONTROLLER://127.0.0.1:${ports.controller}`].join(',')}`,
    `advertised.listeners=${listeners.join(',')}`,
    'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
    'sasl.enabled.mechanisms=PLAIN',
    `listener.name.login.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required ${users};`,
    'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users=User:ANONYMOUS',
  ]
  const authorizerLog = 'logger.authorizer.name=kafka.authorizer.logger\nlogger.authorizer.level=INFO\n'
  const files = Object.entries(base.files).map(([path, text]): [string, string] => [
    path,
    text + (path === base.marker ? `${properties.join('\n')}\n` : authorizerLog),
  ])
  return { ...base, files: Object.fromEntries(files) }
}

/** Creates the role and the user of each program. */
export async function createMongoUsers(db: Db, database: string): Promise<void> {
  for (const program of PROGRAMS) {
    const ofDoctor = program === DOCTOR_RIGHTS.program ? DOCTOR_RIGHTS.mongo : []
    const privileges = [...mongoRightsOf(program), ...ofDoctor].map(({ collection, actions }) => ({
      resource: { db: database, collection },
      actions,
    }))
    await db.command({ createRole: `backstop-${program}`, privileges, roles: [] })
    await db.command({ createUser: program, pwd: PASSWORD, roles: [`backstop-${program}`] })
  }
}

const { AclResourceTypes, AclOperationTypes, AclPermissionTypes, ResourcePatternTypes } = kafkajs

/** The access rules of a program, as in deploy/k8s/components/strimzi. */
export function kafkaRulesOf(program: ProgramName, prefix: string) {
  const { kafka, provisions }: ProgramRights = RIGHTS[program]
  const rule = (resourceType: number, resourceName: string, operation: number) => ({
    resourceType,
    resourceName,
    resourcePatternType:
      resourceType === AclResourceTypes.GROUP ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
    principal: `User:${program}`,
    host: '*',
    operation,
    permissionType: AclPermissionTypes.ALLOW,
  })
  const everywhere = [AclOperationTypes.DESCRIBE, AclOperationTypes.DESCRIBE_CONFIGS]
  if (provisions) everywhere.push(AclOperationTypes.CREATE, AclOperationTypes.ALTER)
  const ofGroups = kafka.groups === undefined ? [] : [AclOperationTypes.READ, AclOperationTypes.DESCRIBE]
  return [
    ...everywhere.map(operation => rule(AclResourceTypes.TOPIC, '*', operation)),
    ...kafka.reads.map(topic => rule(AclResourceTypes.TOPIC, prefix + topic, AclOperationTypes.READ)),
    ...kafka.writes.map(topic => rule(AclResourceTypes.TOPIC, prefix + topic, AclOperationTypes.WRITE)),
    ...(program === DOCTOR_RIGHTS.program ? DOCTOR_RIGHTS.groups : []).map(group =>
      rule(AclResourceTypes.GROUP, prefix + group, AclOperationTypes.DESCRIBE),
    ),
    ...ofGroups.map(operation => rule(AclResourceTypes.GROUP, prefix + kafka.groups, operation)),
  ]
}
