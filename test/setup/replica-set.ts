/** A MongoDB replica set of three members, each a process on this machine. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@backstop/kit/test'
import { choosePorts, identify, silentProgress } from '@backstop/stack'
import { MongoClient } from 'mongodb'
import { ensurePrograms } from '../../stack/src/downloads/ensure-programs.ts'
import { EmbeddedPart } from '../../stack/src/embedded-part.ts'
import { StackRecordFile } from '../../stack/src/part-records.ts'
import { mongoProgram } from '../../stack/src/parts/mongo.ts'
import { endProcess } from '../../stack/src/process-end.ts'
import { startReaper } from '../../stack/src/reaper.ts'

const SET = 'backstop'
/** Milliseconds without a primary until the other members elect a new one. MongoDB's default is ten seconds. */
const ELECTION_TIMEOUT_MS = 2_000

export interface ReplicaSet {
  /** The connection URL for clients. */
  readonly url: string
  /** Makes the primary step down. Resolves when another member accepts writes. */
  stepDown(): Promise<void>
  /**
   * Kills the primary with SIGKILL. Resolves when another member accepts writes.
   * @returns a function that starts the killed member again
   */
  killPrimary(): Promise<() => Promise<void>>
  stop(): Promise<void>
}

/** @param folder for the data and logs; no other replica set may use it */
export async function startReplicaSet(folder: string): Promise<ReplicaSet> {
  const { mongod } = await ensurePrograms(['mongo'], process.env, silentProgress)
  const owner = identify(process.pid)!
  const ports = Object.values(await choosePorts({ first: {}, second: {}, third: {} }))
  const members = ports.map(port => {
    const dir = join(folder, String(port))
    mkdirSync(dir, { recursive: true })
    // The stack's check of MongoDB initiates a replica set, which no member may do here.
    const program = {
      ...mongoProgram({ mongod, dir, port }),
      checkReady: async () => void (await command(port, { ping: 1 })),
    }
    const part = new EmbeddedPart(program, new StackRecordFile(dir), join(dir, 'logs'), owner)
    return { host: `127.0.0.1:${port}`, port, part, reaper: startReaper(dir) }
  })
  const stop = async () => {
    await Promise.all(members.map(({ part }) => part.stop()))
    await Promise.all(members.map(({ reaper }) => reaper && endProcess(reaper)))
  }
  /** Waits for a member that is the primary and accepts writes. @param not a member that may not be the result */
  const primaryMember = (not?: string) =>
    until(
      'a primary',
      async () => {
        for (const member of members) {
          const hello = await command(member.port, { hello: 1 }).catch(() => undefined)
          if (hello?.isWritablePrimary === true && member.host !== not) return member
        }
        return undefined
      },
      { timeoutMs: 30_000, everyMs: 50 },
    )
  try {
    await Promise.all(members.map(({ part }) => part.start()))
    await command(ports[0]!, {
      replSetInitiate: {
        _id: SET,
        members: members.map(({ host }, _id) => ({ _id, host })),
        settings: { electionTimeoutMillis: ELECTION_TIMEOUT_MS },
      },
    })
    await primaryMember()
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: `mongodb://${members.map(({ host }) => host).join(',')}/?replicaSet=${SET}`,
    async stepDown() {
      const { host, port } = await primaryMember()
      await command(port, { replSetStepDown: 3, secondaryCatchUpPeriodSecs: 2 })
      await primaryMember(host)
    },
    async killPrimary() {
      const { host, part } = await primaryMember()
      part.kill('SIGKILL')
      await primaryMember(host)
      return () => part.restart()
    },
    stop,
  }
}

/** Connects to one member directly, whatever its role. */
async function command(port: number, document: Record<string, unknown>): Promise<Record<string, unknown>> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/`, {
    directConnection: true,
    serverSelectionTimeoutMS: 1_000,
    socketTimeoutMS: 20_000,
    maxPoolSize: 1,
  })
  try {
    return await client.db('admin').command(document)
  } finally {
    await client.close()
  }
}
