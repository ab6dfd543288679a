/**
 * The self-test of the network policies: runs in a pod that the notifier's policy holds for, tries what nobody there may
 * reach, and fails when it gets through. Exit code 1: it got through; 78: its settings.
 */
import { AppError } from '@backstop/kit'
import { readWallConfig } from './config.ts'
import { checkWall } from './wall/check-wall.ts'

const EXIT_CONFIG = 78
const CONNECT_TIMEOUT_MS = 3_000
/** Plug-ins that enforce late do so within seconds. */
const PATIENCE_MS = 60_000
const LOOK_EVERY_MS = 2_000

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

// As the first process of a container it would else not hear the signal. What was cut short has proved nothing.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))

try {
  const { state, reason } = await checkWall({
    targets: readWallConfig(process.env).WALL_TARGETS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    patienceMs: PATIENCE_MS,
    everyMs: LOOK_EVERY_MS,
    report: print,
  })
  print(reason)
  process.exitCode = state === 'stands' ? 0 : 1
} catch (error) {
  const isConfig = error instanceof AppError && error.code === 'config_invalid'
  process.stderr.write(`${isConfig ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = isConfig ? EXIT_CONFIG : 1
}
