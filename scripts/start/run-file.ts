/** The files by which scripts, and a second `npm start`, find the running one. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endProcess, identify, isAlive, type ProcessIdentity, withLock } from '@backstop/stack'

/** `.backstop/run.json`. Other programs read it: its field names must not change. */
export interface RunFile {
  ingress: string
  admin: string
  console: string
  mail: string
  smtp: string
  /** API key with every scope. */
  key: string
  /** Connection string of MongoDB, without the database. */
  mongo: string
  database: string
  /** Milliseconds until the second look. */
  recheck_delay_ms: number
  /** Of the services. */
  pids: Record<string, number>
  /** Of `npm start` itself: a SIGTERM to it stops everything. */
  launcher: number
  /** The stand-in card processor and a key that may refund there; absent without the demo. */
  processor?: { url: string; key: string }
}

/** The processes of the current or last start. A pid alone could belong to a later process. */
interface LauncherRecord {
  launcher: ProcessIdentity
  services: Record<string, ProcessIdentity>
}

export type Claim =
  /** This process is the launcher of the data folder from now on. */
  | { kind: 'claimed'; endedLeftovers: string[] }
  /** Another process is the launcher; `run` is absent while it starts. */
  | { kind: 'taken'; pid: number; run: RunFile | undefined }

/** The record files of one data folder. */
export function createRunRecords(dataDir: string) {
  const runPath = join(dataDir, 'run.json')
  const launcherPath = join(dataDir, 'launcher.json')
  const services: Record<string, ProcessIdentity> = {}

  function readRun(): RunFile | undefined {
    return readJson<RunFile>(runPath)
  }

  return {
    readRun,
    /**
     * Makes this process the one launcher of the folder, unless another lives. What a killed launcher left behind
     * is ended first: services that would keep their ports.
     */
    claim(): Promise<Claim> {
      mkdirSync(dataDir, { recursive: true })
      return withLock(join(dataDir, 'launcher.lock'), { timeoutMs: 60_000 }, async () => {
        const earlier = readJson<LauncherRecord>(launcherPath)
        if (earlier !== undefined && isAlive(earlier.launcher)) {
          return { kind: 'taken', pid: earlier.launcher.pid, run: readRun() }
        }
        const leftovers = Object.entries(earlier?.services ?? {}).filter(([, identity]) => isAlive(identity))
        await Promise.all(leftovers.map(([, identity]) => endProcess(identity)))
        rmSync(runPath, { force: true })
        const launcher = identify(process.pid) as ProcessIdentity
        replaceFile(launcherPath, { launcher, services: {} } satisfies LauncherRecord)
        return { kind: 'claimed', endedLeftovers: leftovers.map(([name]) => name) }
      })
    },
    /** Keeps a service's process in mind for the next start, should this one be killed. */
    rememberService(name: string, identity: ProcessIdentity | undefined): void {
      if (identity === undefined) return
      services[name] = identity
      const launcher = identify(process.pid) as ProcessIdentity
      replaceFile(launcherPath, { launcher, services } satisfies LauncherRecord)
      const run = readRun()
      if (run !== undefined) replaceFile(runPath, { ...run, pids: { ...run.pids, [name]: identity.pid } })
    },
    /** Tells scripts that all is ready. */
    writeRun: (run: RunFile) => replaceFile(runPath, run),
    /** After all is stopped. */
    clear(): void {
      rmSync(runPath, { force: true })
      rmSync(launcherPath, { force: true })
    },
  }
}

export type RunRecords = ReturnType<typeof createRunRecords>

function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
  } catch {
    return undefined
  }
}

/** In one step, so that a reader never sees half of it. */
function replaceFile(path: string, content: object): void {
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 })
  renameSync(temporary, path)
}
