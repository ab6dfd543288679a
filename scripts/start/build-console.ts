/** Builds the console in a process of its own. A build blocks its process for seconds, which would delay the checks of a starting stack. */
import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { ConsoleBuild } from '../../packages/console/scripts/build-console.ts'
import { END_WITH_PARENT } from './service-process.ts'

const BUILD = fileURLToPath(new URL('../../packages/console/scripts/build.ts', import.meta.url))
/** The build gives way to Kafka, MongoDB and the services, which start at the same time. */
const NICENESS = 10

/**
 * Builds the console, unless its sources are those of the last build. The child ends with the launcher.
 * @throws Error with the output of the build
 */
export async function buildConsoleInChild(): Promise<ConsoleBuild> {
  const child = spawn(process.execPath, ['--import', END_WITH_PARENT, BUILD], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  if (child.pid !== undefined) setPriority(child.pid, NICENESS)
  let output = ''
  let result: ConsoleBuild | undefined
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
  child.on('message', message => {
    result = message as ConsoleBuild
  })
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve())
  })
  if (result === undefined) throw new Error(output.trim() || 'The build ended without a result')
  return result
}
