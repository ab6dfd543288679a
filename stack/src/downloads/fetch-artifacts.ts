import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ProgressStep } from '../progress.ts'
import { StackError } from '../stack-contract.ts'
import { type Artifact, artifactFileName, artifactPath, inspectArtifact } from './artifact.ts'
import { megabytes } from './machine-checks.ts'
import { pythonEnvironment } from './python.ts'

export interface ArtifactOrder {
  artifacts: readonly Artifact[]
  /** A folder with the layout of a Maven repository. Complete files of an interrupted download are reused. */
  repository: string
  /** Folder that contains jgo. */
  client: string
  env: NodeJS.ProcessEnv
}

/** The files of Kafka and the registry, with their sizes and hashes. */
export function readPinnedArtifacts(): Record<'kafka' | 'registry', Artifact[]> {
  const pins = new URL('./pins/maven.json', import.meta.url)
  return JSON.parse(readFileSync(pins, 'utf8')) as Record<'kafka' | 'registry', Artifact[]>
}

/**
 * Downloads missing files, and verifies every file against its pin.
 * @throws StackError if the repository is unreachable or serves a different file
 */
export async function fetchArtifacts(order: ArtifactOrder, step: ProgressStep): Promise<void> {
  const absent = await removeBroken(order)
  if (absent.length === 0) return
  const total = absent.reduce((sum, { bytes }) => sum + bytes, 0)
  let received = 0
  step.update(`downloading, 0 MB of ${megabytes(total)}`)
  await runClient({ ...order, artifacts: absent }, bytes => {
    received += bytes
    step.update(`downloading, ${megabytes(received)} of ${megabytes(total)}`)
  })
  for (const artifact of absent) {
    const path = join(order.repository, artifactPath(artifact))
    const state = await inspectArtifact(path, artifact)
    if (state.kind === 'whole') continue
    rmSync(path, { force: true })
    throw new StackError(
      `The downloaded ${artifactFileName(artifact)} ${state.kind === 'broken' ? `has ${state.reason}` : 'is missing'}`,
      'Start again; if it stays so, the repository serves other content than was pinned: do not use it',
    )
  }
}

async function removeBroken({ artifacts, repository }: ArtifactOrder): Promise<Artifact[]> {
  const absent: Artifact[] = []
  for (const artifact of artifacts) {
    const path = join(repository, artifactPath(artifact))
    if ((await inspectArtifact(path, artifact)).kind === 'whole') continue
    rmSync(path, { force: true })
    absent.push(artifact)
  }
  return absent
}

async function runClient(
  { artifacts, repository, client, env }: ArtifactOrder,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const script = fileURLToPath(new URL('./fetch_artifacts.py', import.meta.url))
  const child = spawn('python3', [script], { env: pythonEnvironment(env, { PYTHONPATH: client }) })
  child.stdin.on('error', () => {}) // it ended early: its exit code says so
  // Keep the pipe open: the script exits when the pipe closes, so that it does not outlive a killed start.
  child.stdin.write(`${JSON.stringify({ repository, artifacts })}\n`)
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
  if (exitCode === 0) return
  throw new StackError(
    `Maven artifacts could not be downloaded:\n${errors.trim().split('\n').slice(-4).join('\n')}`,
    'Check that this machine reaches Maven Central, then start again: what is complete is kept',
  )
}
