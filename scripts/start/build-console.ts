/** Builds the console in a process of its own. A build blocks its process for seconds, which would delay the checks of a starting stack. */
import { fileURLToPath } from 'node:url'
import type { ConsoleBuild } from '../../packages/console/scripts/build-console.ts'
import { runChild } from './run-child.ts'

const BUILD = fileURLToPath(new URL('../../packages/console/scripts/build.ts', import.meta.url))
/** The build gives way to Kafka, MongoDB and the services, which start at the same time. */
const NICENESS = 10

/**
 * Builds the console, unless its sources are those of the last build.
 * @throws Error with the output of the build
 */
export async function buildConsoleInChild(): Promise<ConsoleBuild> {
  const { message, output } = await runChild(BUILD, { niceness: NICENESS })
  if (message === undefined) throw new Error(output.trim() || 'The build ended without a result')
  return message as ConsoleBuild
}
