/** The files by which scripts and a second `npm start` find the running product. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { endProcess, identify, isAlive, makePrivateFolder, type ProcessIdentity, withLock } from '@backstop/stack'

/** The content of `.backstop/run.json`. Its field names must not change, because other programs read it. */
export interface RunFile {
  ingress: string
  admin: string
  console: string
  mail: string
  smtp: string
  /** An API key with every scope. */
  key: string
  /** The connection string of MongoDB, without the database. */
  mongo: string
  database: string
  /** The brokers of Kafka, `host:port`, comma-separated. */
  kafka: string
  registry: string
  /** The prefix of topics and consumer groups; empty if there is none. */
  topic_prefix: string
  /** Milliseconds until the second look. */
  recheck_delay_ms: number
  /** The process ids of the services. */
  pids: Record<string, number>
  /** The process id of `npm start`. A SIGTERM to it stops everything. */
  launcher: number
  /** The project of the demo, which commands use by default; absent without the demo. */
  project?: string
  /** The simulated card processor and a key that may refund; absent without the demo. */
  processor?: { url: string; key: string }
}

/**
 * The processes of the current or last start. They are stored with more than their pid, because another process may get the pid
 * later.
 */
interface LauncherRecord {
  launcher: ProcessIdentity
  services: Record<string, ProcessIdentity>
}

/** The result of claiming a data folder. */
export type Claim =
  /** This process is now the launcher of the data folder. */
  | { kind: 'claimed'; endedLeftovers: string[] }
  /** Another process is the launcher. `run` is absent during its start. */
  | { kind: 'taken'; pid: number; run: RunFile | undefined }

/** Creates the access to the record files of a data folder. */
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
     * Makes this process the only launcher of the folder, unless another launcher runs. The services that a killed launcher has
     * left are ended first, because they would keep their ports.
     */
    claim(): Promise<Claim> {
      makePrivateFolder(dataDir, basename(dataDir) === '.backstop' || existsSync(join(dataDir, 'secrets.json')))
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
    /** Records a service's process, so that the next start can end it if this launcher is killed. */
    recordService(name: string, identity: ProcessIdentity | undefined): void {
      if (identity === undefined) return
      services[name] = identity
      const launcher = identify(process.pid) as ProcessIdentity
      replaceFile(launcherPath, { launcher, services } satisfies LauncherRecord)
      const run = readRun()
      if (run !== undefined) replaceFile(runPath, { ...run, pids: { ...run.pids, [name]: identity.pid } })
    },
    /** Writes run.json, which shows scripts that everything is ready. */
    writeRun: (run: RunFile) => replaceFile(runPath, run),
    /** Removes the files after everything was stopped. */
    clear(): void {
      rmSync(runPath, { force: true })
      rmSync(launcherPath, { force: true })
    },
  }
}

/** The running product of a data folder. Without one, ends this process with the way to start it. */
export function readRunOrExit(dataDir: string): RunFile {
  const run = createRunRecords(dataDir).readRun()
  if (run !== undefined) return run
  process.stderr.write('Backstop does not run here. Start it in another terminal:  npm start\n')
  process.exit(1)
}

export type RunRecords = ReturnType<typeof createRunRecords>

function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
  } catch {
    return undefined
  }
}

/** Replaces a file in one step, so that no reader sees a part of it. */
function replaceFile(path: string, content: object): void {
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 })
  renameSync(temporary, path)
}
