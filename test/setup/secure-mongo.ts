/** A MongoDB server that requires TLS, and a login unless it is a replica set, as a process on this machine. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Certificate } from '@backstop/kit/test'
import { choosePorts, endProcess, identify, silentProgress } from '@backstop/stack'
import { type Db, MongoClient } from 'mongodb'
import { ensurePrograms } from '../../stack/src/downloads/ensure-programs.ts'
import { EmbeddedPart } from '../../stack/src/embedded-part.ts'
import { StackRecordFile } from '../../stack/src/part-records.ts'
import { mongoProgram } from '../../stack/src/parts/mongo.ts'
import { startReaper } from '../../stack/src/reaper.ts'

/** The server's own certificate, and the authorities whose clients it accepts, in PEM. */
export interface ServerFiles {
  readonly own: Certificate
  readonly ca: string
}

export interface SecureMongo {
  readonly port: number
  /** Runs commands of an administrator on the database `admin`. */
  asAdmin(act: (admin: Db) => Promise<unknown>): Promise<void>
  /** Adds a member to the replica set. It has no vote, so the set works while nothing answers at this address. */
  addMember(host: string): Promise<void>
  /** Replaces the files, and lets the running server read them again. Open connections stay. */
  rotate(files: ServerFiles): Promise<void>
  /** Stops the server, which ends all connections, and starts it again. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const ADMIN = { username: 'root', password: 'root-password' } as const

/**
 * @param folder for data, certificates and logs
 * @param set the name of a replica set with this member alone; such a server requires no login
 */
export async function startSecureMongo(folder: string, files: ServerFiles, set?: string): Promise<SecureMongo> {
  const { mongod } = await ensurePrograms(['mongo'], process.env, silentProgress)
  const { mongo: port } = await choosePorts({ mongo: {} })
  mkdirSync(folder, { recursive: true })
  let current = files
  const [ownPath, caPath] = [join(folder, 'own.pem'), join(folder, 'ca.pem')]
  const open = (auth?: typeof ADMIN) =>
    new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true&tls=true&authSource=admin`, {
      ca: current.ca,
      ...(auth === undefined ? {} : { auth }),
      serverSelectionTimeoutMS: 2_000,
    })
  const asAdmin = async (act: (admin: Db) => Promise<unknown>, auth?: typeof ADMIN) => {
    const client = open(auth)
    try {
      await act(client.db('admin'))
    } finally {
      await client.close()
    }
  }
  const base = mongoProgram({ mongod, dir: folder, port })
  const args = [
    ...base.args.filter((argument, index, all) => argument !== '--replSet' && all[index - 1] !== '--replSet'),
    ...(set === undefined ? ['--auth'] : ['--replSet', set]),
    ...['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', ownPath, '--tlsCAFile', caPath],
    '--tlsAllowConnectionsWithoutCertificates',
  ]
  const program = {
    ...base,
    args,
    get files() {
      return { [ownPath]: `${current.own.key}${current.own.cert}`, [caPath]: current.ca }
    },
    checkReady: () =>
      asAdmin(async admin => {
        const hello = await admin.command({ hello: 1 })
        if (set === undefined || hello.isWritablePrimary === true) return
        const members = [{ _id: 0, host: `127.0.0.1:${port}` }]
        if (hello.setName === undefined) await admin.command({ replSetInitiate: { _id: set, members } })
        throw new Error('The replica set has no primary yet')
      }),
  }
  writeFiles(program.files)
  const part = new EmbeddedPart(program, new StackRecordFile(folder), join(folder, 'logs'), identify(process.pid)!)
  const reaper = startReaper(folder)
  await part.start()
  const login = set === undefined ? ADMIN : undefined
  if (login !== undefined) {
    // Without any user, a client on this machine may create the first one.
    await asAdmin(admin => admin.command({ createUser: login.username, pwd: login.password, roles: ['root'] }))
  }
  return {
    port,
    asAdmin: act => asAdmin(act, login),
    addMember: host =>
      asAdmin(async admin => {
        const { config } = await admin.command({ replSetGetConfig: 1 })
        const members = [...config.members, { _id: config.members.length, host, votes: 0, priority: 0 }]
        await admin.command({ replSetReconfig: { ...config, version: config.version + 1, members } })
      }, login),
    async rotate(changed) {
      await asAdmin(async admin => {
        current = changed
        writeFiles(program.files)
        await admin.command({ rotateCertificates: 1 })
      }, login)
    },
    restart: () => part.restart(),
    async stop() {
      await part.stop()
      if (reaper !== undefined) await endProcess(reaper)
    },
  }
}

/** Private keys: a file keeps its mode when the part writes it again. */
function writeFiles(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) writeFileSync(path, content, { mode: 0o600 })
}
