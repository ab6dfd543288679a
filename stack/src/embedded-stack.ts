import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ensurePrograms, type Programs } from './downloads/ensure-programs.ts'
import { requireDisk } from './downloads/machine-checks.ts'
import { EmbeddedPart, type PartProgram } from './embedded-part.ts'
import { withLock } from './exclusive-lock.ts'
import { type StackRecord, StackRecordFile } from './part-records.ts'
import { kafkaProgram } from './parts/kafka.ts'
import { mailProgram } from './parts/mail.ts'
import { mongoProgram, mongoUrl } from './parts/mongo.ts'
import { registryProgram, registryUrl } from './parts/registry.ts'
import { choosePorts, isPortFree, type PortWish } from './ports.ts'
import { endProcess } from './process-end.ts'
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts'
import { startReaper } from './reaper.ts'
import {
  PART_NAMES,
  type PartName,
  PORT_NAMES,
  PortInUseError,
  type PortName,
  StackError,
  type StackOptions,
  type StackUrls,
} from './stack-contract.ts'

/** Required disk space: enough for the data of one day of work in Kafka and MongoDB. */
const DISK_NEEDED_BYTES = 1_000_000_000

/** The ports of each part. */
const PORTS_OF: Record<PartName, readonly PortName[]> = {
  kafka: ['kafka', 'controller'],
  mongo: ['mongo'],
  registry: ['registry'],
  mail: ['smtp', 'mail'],
}

export interface EmbeddedStack {
  urls: Partial<StackUrls>
  parts: Partial<Record<PartName, EmbeddedPart>>
  stop(): Promise<void>
}

/** Starts the named parts as processes of this machine, or adopts parts that already run. */
export async function startEmbeddedStack(names: readonly PartName[], options: StackOptions): Promise<EmbeddedStack> {
  if (process.platform === 'win32') {
    throw new StackError('Without Docker the stack needs Linux or macOS', 'Start Docker, or run this inside WSL')
  }
  const dataDir = resolve(options.dataDir)
  const records = new StackRecordFile(dataDir)
  requireDisk(dataDir, DISK_NEEDED_BYTES)
  const programs = await ensurePrograms(names, options.env, options.log)
  return withDataFolder(dataDir, async () => {
    const owner = ownerOf(options)
    // Start the reaper before the parts, because the owner may be killed during the start.
    const reaper = options.endWithProcess && owner !== null ? startReaper(dataDir) : undefined
    const assignAndStart = async () => {
      const ports = await assignPorts(names, records, options.ports ?? {})
      const parts = Object.fromEntries(
        names.map(name => [
          name,
          new EmbeddedPart(programFor(name, programs, dataDir, ports), records, join(dataDir, 'logs'), owner),
        ]),
      ) as Partial<Record<PartName, EmbeddedPart>>
      await startParts(Object.values(parts), options)
      return { ports, parts }
    }
    const { ports, parts } = await retryOnOtherPorts(assignAndStart).catch(async (error: unknown) => {
      await stopReaper(reaper)
      throw error
    })
    return {
      urls: urlsOf(names, ports),
      parts,
      stop: () => withDataFolder(dataDir, () => stopOwned(Object.values(parts), reaper)),
    }
  })
}

/** How often the ports of the parts are chosen before a start fails. */
const MOST_PORT_CHOICES = 3

/** Another start on this machine may take a port after it was chosen. A port that the caller requires is checked when ports are chosen. */
async function retryOnOtherPorts<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      if (!(error instanceof PortInUseError) || attempt === MOST_PORT_CHOICES) throw error
    }
  }
}

/** Runs work that starts or stops parts under the lock of the data folder. */
export async function withDataFolder<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  return withLock(join(dataDir, 'lock'), { timeoutMs: 180_000 }, work)
}

/**
 * Stops all parts recorded in a data folder, including those that other processes started. Returns the names of the
 * parts that were running.
 */
export async function stopRecordedParts(dataDir: string, only: readonly PartName[] = PART_NAMES): Promise<PartName[]> {
  const records = new StackRecordFile(dataDir)
  const { parts } = records.read()
  const running = only.filter(name => parts[name] !== undefined && isAlive(parts[name]))
  await Promise.all(running.map(name => endProcess(parts[name]!)))
  records.change(record => {
    for (const name of only) delete record.parts[name]
  })
  return running
}

/**
 * Stops the parts owned by a process, without waiting for a start in progress: used for Ctrl-C during the start.
 * @param graceMs time between SIGTERM and SIGKILL
 */
export async function stopPartsOwnedBy(owner: ProcessIdentity, dataDir: string, graceMs?: number): Promise<void> {
  const records = new StackRecordFile(dataDir)
  const { parts } = records.read()
  const owned = PART_NAMES.filter(
    name => parts[name]?.owner?.pid === owner.pid && parts[name].owner.startTime === owner.startTime,
  )
  await Promise.all(owned.map(name => endProcess(parts[name]!, graceMs)))
  records.change(record => {
    for (const name of owned) if (record.parts[name]?.pid === parts[name]?.pid) delete record.parts[name]
  })
}

/** The process that stops the parts; null if they must keep running. */
function ownerOf({ keepRunning }: StackOptions): ProcessIdentity | null {
  return keepRunning ? null : (identify(process.pid) as ProcessIdentity)
}

/** Chooses the ports. A running part keeps its ports, although they are in use. */
async function assignPorts(
  names: readonly PartName[],
  records: StackRecordFile,
  wanted: Partial<Record<PortName, number>>,
): Promise<Record<PortName, number>> {
  const record = records.read()
  const ours = portsInUseByParts(record)
  const wishes = Object.fromEntries(
    PORT_NAMES.filter(port => names.some(name => PORTS_OF[name].includes(port))).map(port => [
      port,
      { wanted: wanted[port], remembered: record.ports[port] } satisfies PortWish,
    ]),
  ) as Record<PortName, PortWish>
  const ports = await choosePorts(wishes, async port => ours.has(port) || (await isPortFree(port)))
  records.change(changed => {
    changed.ports = { ...changed.ports, ...ports }
  })
  return ports
}

function portsInUseByParts({ parts, ports }: StackRecord): Set<number> {
  const running = PART_NAMES.filter(name => parts[name] !== undefined && isAlive(parts[name]))
  return new Set(running.flatMap(name => PORTS_OF[name].map(port => ports[port])).filter(port => port !== undefined))
}

function programFor(name: PartName, programs: Programs, dataDir: string, ports: Record<PortName, number>): PartProgram {
  const dir = join(dataDir, name)
  mkdirSync(dir, { recursive: true })
  switch (name) {
    case 'kafka':
      return kafkaProgram({
        java: programs.java,
        jars: programs.kafkaJars,
        dir,
        port: ports.kafka,
        controllerPort: ports.controller,
      })
    case 'mongo':
      return mongoProgram({ mongod: programs.mongod, dir, port: ports.mongo })
    case 'registry':
      return registryProgram({ java: programs.java, home: programs.registryHome, dir, port: ports.registry })
    case 'mail':
      return mailProgram({ dir, smtpPort: ports.smtp, webPort: ports.mail })
    default:
      return name satisfies never
  }
}

/** Starts all parts concurrently. If one fails, the parts started by this call are stopped again. */
async function startParts(parts: EmbeddedPart[], { log }: StackOptions): Promise<void> {
  const results = await Promise.allSettled(
    parts.map(async part => {
      const step = log.step(part.title)
      try {
        if (await part.adopt()) return step.done('was up already')
        step.update('starting')
        await part.start()
        step.done('up')
      } catch (error) {
        // The caller prints the error, which contains the end of the log.
        step.fail('did not start', '')
        throw error
      }
    }),
  )
  const failed = results.find(result => result.status === 'rejected')
  if (failed === undefined) return
  await Promise.allSettled(parts.filter(part => !part.adopted).map(part => part.stop()))
  throw failed.reason
}

function urlsOf(names: readonly PartName[], ports: Record<PortName, number>): Partial<StackUrls> {
  return {
    ...(names.includes('kafka') && { kafka: `127.0.0.1:${ports.kafka}` }),
    ...(names.includes('mongo') && { mongo: mongoUrl(ports.mongo) }),
    ...(names.includes('registry') && { registry: registryUrl(ports.registry) }),
    ...(names.includes('mail') && { smtp: `smtp://127.0.0.1:${ports.smtp}`, mail: `http://127.0.0.1:${ports.mail}` }),
  }
}

async function stopOwned(parts: EmbeddedPart[], reaper: ProcessIdentity | undefined): Promise<void> {
  await Promise.all(parts.filter(part => part.isOwned()).map(part => part.stop()))
  await stopReaper(reaper)
}

async function stopReaper(reaper: ProcessIdentity | undefined): Promise<void> {
  if (reaper !== undefined) await endProcess(reaper)
}
