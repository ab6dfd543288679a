import { sleep } from '../clock/clock.ts'
import { AppError } from '../errors.ts'
import { startOpsServer } from '../ops/ops-server.ts'
import type { KeyRing } from '../secret-box/key-ring.ts'
import type { Preconditions } from './preconditions.ts'
import { startProcessReport } from './process-report.ts'
import type { OnInterrupted, RunningService } from './run-service.ts'
import { type ServiceParts, unlessFailed } from './service-parts.ts'

/** The result of every service's `createApp`: all parts are wired, nothing runs yet. */
export interface ServiceApp {
  start(): Promise<void>
  /** Refuses new work, finishes or abandons the work in flight, and disconnects. */
  stop(): Promise<void>
  /**
   * The reason why this process should get no requests; undefined if there is none. Not implemented by services without
   * requests.
   */
  unready?(): string | undefined
  /** Milliseconds since the least active consumer last made progress. Not implemented by services without consumers. */
  msSinceProgress?(): number
  /** The port of the HTTP server. Not implemented by services without one. */
  port?(): number
}

export interface StartOptions {
  readonly parts: ServiceParts
  readonly config: { readonly HOST: string; readonly OPS_PORT: number; readonly SECRET_KEYS: KeyRing }
  /** True if the service is not ready while MongoDB does not answer; true by default. */
  readonly needsMongo?: boolean
  /** True if the service is not ready while Kafka does not answer; true by default. */
  readonly needsKafka?: boolean
  /** What the service checks at its start and every minute. While a condition is not met, the process is not ready. */
  readonly preconditions?: Preconditions
  /**
   * True if the app may only run while the preconditions are met, as a consumer, whose messages wait for another process. It is started
   * when they are met and the clock is measured. If one is lost later, the process ends, and the next one waits. False by default.
   */
  readonly runsOnlyWhenMet?: boolean
  /** Parts that the app uses and does not stop itself. They are stopped after the app. */
  readonly stopAfterwards?: readonly { stop(): unknown }[]
  /** Of `runService`. It lets the process leave the list of processes also if a signal ends its start. */
  readonly onInterrupted?: OnInterrupted | undefined
}

/**
 * Time without progress after which a consumer hangs, in milliseconds. An idle consumer fetches every second.
 */
const STUCK_AFTER_MS = 120_000
/** Starts the ops server, then the app, in the same way for all services. */
export async function startApp(app: ServiceApp, options: StartOptions): Promise<RunningService> {
  const { parts, config, needsMongo = true, needsKafka = true, stopAfterwards = [], preconditions } = options
  const { logger, metrics, tracing, mongo, kafka, clock } = parts
  let startedAtMs: number | undefined
  const ready = async () => {
    const reason = app.unready?.() ?? clock.unready() ?? (needsKafka ? kafka.fault() : undefined)
    if (reason !== undefined) return reason
    if (!needsMongo) return preconditions?.fault()
    return mongo.ping().then(
      () => preconditions?.fault(),
      error => (error instanceof Error ? error.message : String(error)),
    )
  }
  const isReady = metrics.gauge('backstop_ready', '1 if /readyz answers 200, otherwise 0', [])
  metrics.beforeRead(async () => isReady.set((await ready()) === undefined ? 1 : 0))
  const ops = await startOpsServer({
    port: config.OPS_PORT,
    host: config.HOST,
    metrics,
    // An unavailable dependency is no reason to restart, because a restart would not fix it.
    live: () => {
      if (startedAtMs === undefined) return undefined
      const stuckForMs = Math.min(app.msSinceProgress?.() ?? 0, performance.now() - startedAtMs)
      return stuckForMs > STUCK_AFTER_MS ? 'No consumer progress for two minutes' : undefined
    },
    ready,
  })
  const report = startProcessReport({ entry: parts.processEntry, keys: config.SECRET_KEYS, clock, logger, ready })
  options.onInterrupted?.(report.stop)
  try {
    await startWhenMet(options)
    startedAtMs = performance.now()
    await app.start()
  } catch (error) {
    await report.stop()
    throw error
  }
  const port = app.port?.()
  // The ids of the encryption keys may be logged, the keys may not.
  const shown = { ...config, SECRET_KEYS: [...config.SECRET_KEYS.keys.keys()] }
  logger.info({ config: shown, port, ops_port: ops.port }, 'service.started')
  return {
    logger,
    port,
    opsPort: ops.port,
    failed: parts.failed,
    async stop() {
      await report.stop()
      await preconditions?.stop()
      await app.stop()
      await Promise.all([...stopAfterwards.map(part => part.stop()), tracing?.stop()])
      await kafka.stop()
      clock.stop()
      await mongo.stop()
      await ops.stop()
    },
  }
}

/** How long a service that does not wait for its preconditions waits for their first check and for the time, in milliseconds. */
const FIRST_CHECK_MS = 2_000

/** Starts the checks of the preconditions. Waits for them if the app may not run before. */
async function startWhenMet(options: StartOptions): Promise<void> {
  const { parts, preconditions, runsOnlyWhenMet = false, needsMongo = true } = options
  if (!runsOnlyWhenMet) {
    const checked = preconditions?.start() ?? Promise.resolve()
    // So that the first requests find the preconditions checked and the clock measured. Without MongoDB they cannot change anything.
    const known = Promise.all([checked, parts.clock.untilMeasured()])
    if (needsMongo) await Promise.race([known, sleep(parts.clock, FIRST_CHECK_MS)])
    return
  }
  void preconditions?.start(fault => parts.onFatal(new AppError('unavailable', fault)))
  await unlessFailed(parts, Promise.all([preconditions?.untilMet(), parts.clock.untilMeasured()]))
}
