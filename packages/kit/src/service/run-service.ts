import type { Environment } from '../config/config.ts'
import { AppError } from '../errors.ts'
import { type Logger, maskSecrets } from '../logger.ts'
import { describeStartFault } from './start-fault.ts'

export interface RunningService {
  readonly logger: Logger
  /** The port for clients; undefined for a service that only consumes. */
  readonly port: number | undefined
  /** The port of /healthz, /readyz and /metrics. */
  readonly opsPort: number
  /** Resolves with the reason when the service cannot continue. */
  readonly failed: Promise<unknown>
  /** Refuses new work, finishes the work in flight, and disconnects. */
  stop(): Promise<void>
}

/** Leaves work for the case that a signal ends the process before its start is complete. It must end within a few seconds by itself. */
export type OnInterrupted = (work: () => Promise<void>) => void

/** sysexits(3) EX_CONFIG: a configuration error, which a restart does not fix. */
const EXIT_CONFIG = 78
/**
 * The message that tells a parent process that this process listens. An HTTP answer is no proof, because another
 * process may listen on the same port.
 */
export const STARTED = 'started'
/** Time limit of a stop, in milliseconds: less than the shortest termination grace period of the manifests. */
const STOP_DEADLINE_MS = 25_000

/**
 * Runs a service's process from start to exit: start, wait for a signal or a fatal error, drain, exit. If the parent
 * opened an IPC channel, it receives `STARTED` when the service listens on all its ports.
 * A signal during the start ends the process as soon as the work of `OnInterrupted` is done. Exit codes: 0 after a signal, 78 for a configuration error, 1 for anything else.
 */
export async function runService(
  name: string,
  start: (environment: Environment, onInterrupted: OnInterrupted) => Promise<RunningService>,
): Promise<never> {
  // Registered before the start: in a container node is process 1, and a signal without a handler is ignored there.
  const signalled = nextStopSignal()
  const interrupted: (() => Promise<void>)[] = []
  let service: RunningService
  try {
    const first = await Promise.race([start(process.env, work => void interrupted.push(work)), signalled])
    if ('signal' in first) {
      // Nothing else has to be drained, because a crash at any step is safe.
      await Promise.allSettled(interrupted.map(work => work()))
      process.stderr.write(`${name} stopped during its start (${first.signal})\n`)
      process.exit(0)
    }
    service = first
  } catch (error) {
    const isConfig = error instanceof AppError && error.code === 'config_invalid'
    process.stderr.write(maskSecrets(`${name} did not start. ${describeStartFault(error, process.env)}\n`))
    process.exit(isConfig ? EXIT_CONFIG : 1)
  }
  const { logger } = service
  if (process.connected) process.send?.(STARTED)
  process.on('unhandledRejection', error => {
    logger.fatal({ error }, 'service.unhandled_rejection')
    process.exit(1)
  })
  const outcome = await Promise.race([signalled, service.failed.then(error => ({ error }))])
  if ('error' in outcome) logger.fatal({ error: outcome.error }, 'service.failed')
  else logger.info({ signal: outcome.signal }, 'service.stopping')
  const deadline = setTimeout(() => {
    logger.error({ deadline_ms: STOP_DEADLINE_MS }, 'service.stop_deadline_passed')
    process.exit(1)
  }, STOP_DEADLINE_MS)
  try {
    await service.stop()
    logger.info('service.stopped')
  } catch (error) {
    logger.error({ error }, 'service.stop_failed')
    process.exit(1)
  }
  clearTimeout(deadline)
  process.exit('error' in outcome ? 1 : 0)
}

function nextStopSignal(): Promise<{ signal: NodeJS.Signals }> {
  return new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve({ signal }))
  })
}
