import { startOpsServer } from '../ops/ops-server.ts'
import type { KeyRing } from '../secret-box/key-ring.ts'
import type { RunningService } from './run-service.ts'
import type { ServiceParts } from './service-parts.ts'

/** What the `createApp` of every service returns: everything wired, nothing running. */
export interface ServiceApp {
  start(): Promise<void>
  /** Accepts no new work, finishes or abandons what is in flight, disconnects. */
  stop(): Promise<void>
  /** Why this process should get no requests, or undefined. Absent where nobody sends it requests. */
  unready?(): string | undefined
  /** Milliseconds since the least active consumer last made progress. Absent where nothing is consumed. */
  msSinceProgress?(): number
  /** The port that it listens on. Absent where it listens on none. */
  port?(): number
  /** Sets the gauges to the state in memory; called before the metrics are read. */
  updateGauges?(): void
}

export interface StartOptions {
  readonly parts: ServiceParts
  readonly config: { readonly HOST: string; readonly OPS_PORT: number; readonly SECRET_KEYS: KeyRing }
  /** Whether the service is unready while MongoDB does not answer; true when left out. */
  readonly needsMongo?: boolean
  /** What the app uses and does not stop itself; stopped after it. */
  readonly stopAfterwards?: readonly { stop(): unknown }[]
}

/** An idle consumer fetches every quarter of a second, so one that has not fetched for this long hangs. */
const STUCK_AFTER_MS = 120_000

/** Starts the ops server, then the app. The same for all services. */
export async function startApp(app: ServiceApp, options: StartOptions): Promise<RunningService> {
  const { parts, config, needsMongo = true, stopAfterwards = [] } = options
  const { logger, metrics, mongo, clock } = parts
  const startedAtMs = performance.now()
  const ops = await startOpsServer({
    port: config.OPS_PORT,
    host: config.HOST,
    metrics: {
      ...metrics,
      text() {
        app.updateGauges?.()
        return metrics.text()
      },
    },
    // A dependency that is unavailable is no reason: a restart would not bring it back.
    live: () => {
      const stuckForMs = Math.min(app.msSinceProgress?.() ?? 0, performance.now() - startedAtMs)
      return stuckForMs > STUCK_AFTER_MS ? 'No consumer progress for two minutes' : undefined
    },
    ready: async () => {
      const reason = app.unready?.() ?? clock.unready()
      if (reason !== undefined || !needsMongo) return reason
      return mongo.ping().then(
        () => undefined,
        error => (error instanceof Error ? error.message : String(error)),
      )
    },
  })
  await app.start()
  const port = app.port?.()
  // The ids of the keys may be logged, the keys may not.
  const shown = { ...config, SECRET_KEYS: [...config.SECRET_KEYS.keys.keys()] }
  logger.info({ config: shown, port, ops_port: ops.port }, 'service.started')
  return {
    logger,
    port,
    opsPort: ops.port,
    failed: parts.failed,
    async stop() {
      await app.stop()
      await Promise.all(stopAfterwards.map(part => part.stop()))
      await clock.stop()
      await mongo.stop()
      await ops.stop()
    },
  }
}
