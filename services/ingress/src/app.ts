import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ProviderKind } from '@backstop/contracts'
import type { Bus, Producer } from '@backstop/kit/bus'
import type { Clock, MeasuredClock } from '@backstop/kit/clock'
import { ByteBudget, type SocketLimitOptions } from '@backstop/kit/http'
import type { Logger } from '@backstop/kit/logger'
import { listen, type Metrics } from '@backstop/kit/ops'
import type { MessageCodec } from '@backstop/kit/registry'
import type { Tracing } from '@backstop/kit/tracing'
import type { Connections } from './connections/connections.ts'
import { DRAIN_MS, MAX_BODY_BYTES, PROBE_INTERVAL_MS, SEND_LIMITS } from './http/limits.ts'
import { createRequestMetrics, type RequestMetrics } from './http/request-metrics.ts'
import { createWebhookServer } from './http/server.ts'
import { type HandlerParts, WebhookHandler } from './http/webhook-handler.ts'
import { Intake, type UnreadyReason } from './intake/intake.ts'
import type { RateLimit } from './intake/rules/connection-rate-limit.ts'
import { createLoadJudge } from './overload/judge-load.ts'
import type { TurnWatch } from './overload/turn-watch.ts'
import { MicroBatcher } from './publish/micro-batcher.ts'

export type { Connections } from './connections/connections.ts'
export type { IntakeOutcome, Notification } from './intake/intake.ts'

/** The connections and stores that ingress uses. Tests pass parts in memory. */
export interface IngressPorts {
  readonly bus: Pick<Bus, 'producer'>
  /** Throws `unavailable` until the schema id is known. */
  readonly codec: Pick<MessageCodec, 'schemaId'>
  readonly connections: Connections
  readonly load: TurnWatch
  /** The time that signatures are checked against. Until it is measured, ingress accepts nothing. */
  readonly clock: Clock & Pick<MeasuredClock, 'isMeasured'>
  readonly logger: Logger
  readonly metrics: Metrics
  /** Undefined if traces are off. */
  readonly tracing?: Tracing | undefined
}

export interface IngressSettings {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** Headers that may carry each provider's credential, in lower case. */
  readonly credentialHeaders: Readonly<Record<ProviderKind, readonly string[]>>
  /** How long an authentic event may wait for the broker's ack before the answer is 503, in milliseconds. */
  readonly publishTimeoutMs: number
  /** How long the first event of a batch waits for more events, in milliseconds. */
  readonly lingerMs: number
  /** How long an event may wait for its send, in milliseconds, before new ones are refused. */
  readonly queueMaxWaitMs: number
  readonly queueMaxMessages: number
  readonly queueMaxBytes: number
  /** Limit for the bytes of all request bodies in memory. */
  readonly bodiesMaxBytes: number
  /** How long a body may take to arrive, in milliseconds. */
  readonly bodyTimeoutMs: number
  readonly sockets: Pick<SocketLimitOptions, 'maxSockets' | 'maxPerAddress' | 'isTrustedProxy'>
  /** Limits the events that one billing connection may send to this process. */
  readonly rateLimit: RateLimit
}

export interface IngressApp {
  start(): Promise<void>
  /** Finishes the requests in flight, sends the queued events and disconnects. Takes at most 15 s. */
  stop(): Promise<void>
  /** The port that the server listens on; 0 before `start`. */
  port(): number
  /** Receives notifications without HTTP, for simulations. */
  readonly intake: Intake
  /**
   * Returns why ingress should get no requests now, or undefined if it is ready. It stays ready while Kafka is unavailable, because a 503
   * tells a provider more than a refused connection.
   */
  unready(): string | undefined
}

const UNREADY_TEXTS: Readonly<Record<UnreadyReason | 'stopping', string>> = {
  clock_not_measured: "The clock was not compared with MongoDB's yet",
  connections_not_loaded: 'The connections were not read from MongoDB yet',
  schema_id_unknown: 'The schema id of notifications is unknown: check MongoDB, the schema registry and the deploy job',
  stopping: 'The process is stopping',
}

/** Builds ingress from its ports. Nothing runs before `start`. */
export function createApp(ports: IngressPorts, settings: IngressSettings): IngressApp {
  const { clock, connections, logger } = ports
  const metrics = createRequestMetrics(ports.metrics)
  const producer = ports.bus.producer({ sendTimeoutMs: settings.publishTimeoutMs })
  const batcher = createBatcher(producer, clock, settings, metrics)
  const intake = new Intake({ ...ports, batcher, rateLimit: settings.rateLimit })
  const budget = new ByteBudget(settings.bodiesMaxBytes)
  let stopping = false
  const judgeLoad = createLoadJudge(ports.load, batcher)
  const handler = createHandler(ports, settings, { intake, judgeLoad, budget, metrics, isStopping: () => stopping })
  const { server, stop: stopServer } = createWebhookServer({
    handle: (request, response, expectsContinue) => handler.handle(request, response, expectsContinue),
    refuseEarly: request => handler.refuseEarly(request),
    onRefused(status, reason) {
      const request = { method: '', provider: null, durationS: 0, byOldSecret: false }
      metrics.record({ ...request, status, result: 'refused', reason })
      // Silent clients may come by the thousand, so they are counted by the metric and not logged.
      if (reason !== 'silent') logger.info({ status, reason }, 'event.refused')
    },
    sockets: { ...settings.sockets, clock, logger, metrics: ports.metrics },
  })

  ports.metrics.beforeRead(() =>
    metrics.recordState({
      queuedMessages: batcher.pending.messages,
      bodyBytes: budget.held,
      connections: connections.count(),
    }),
  )
  return {
    intake,
    async start() {
      await connections.start()
      await listen(server, settings.port, settings.host)
      // Connects now, so that the first event does not wait for the connection. An unavailable broker does not fail the start.
      await producer.start()
    },
    async stop() {
      stopping = true
      await closeServer(server, clock)
      stopServer()
      await batcher.stop()
      await producer.stop()
      await connections.stop()
    },
    port: () => (server.address() as AddressInfo | null)?.port ?? 0,
    unready() {
      const reason = stopping ? 'stopping' : intake.unready()
      return reason && UNREADY_TEXTS[reason]
    },
  }
}

function createBatcher(
  producer: Producer,
  clock: Clock,
  settings: IngressSettings,
  metrics: RequestMetrics,
): MicroBatcher {
  const limits = {
    ...SEND_LIMITS,
    probeIntervalMs: PROBE_INTERVAL_MS,
    lingerMs: settings.lingerMs,
    maxWaitMs: settings.queueMaxWaitMs,
    maxMessages: settings.queueMaxMessages,
    maxBytes: settings.queueMaxBytes,
    deadlineMs: settings.publishTimeoutMs,
  }
  return new MicroBatcher(producer, clock, limits, metrics.recordSend)
}

function createHandler(
  { clock, logger }: IngressPorts,
  { credentialHeaders, bodyTimeoutMs }: IngressSettings,
  { budget, ...parts }: Pick<HandlerParts, 'intake' | 'judgeLoad' | 'metrics' | 'isStopping'> & { budget: ByteBudget },
): WebhookHandler {
  return new WebhookHandler({
    ...parts,
    bodyLimits: { maxBytes: MAX_BODY_BYTES, timeoutMs: bodyTimeoutMs, budget },
    credentialHeaders: {
      processor: new Set(credentialHeaders.processor),
      reseller: new Set(credentialHeaders.reseller),
      subscription: new Set(credentialHeaders.subscription),
    },
    clock,
    logger,
  })
}

/** Stops accepting connections and waits for the requests in flight. Idle connections close at once. */
function closeServer(server: Server, clock: Clock): Promise<void> {
  return new Promise(resolve => {
    const cut = clock.schedule(DRAIN_MS, () => server.closeAllConnections())
    server.close(() => {
      cut()
      resolve()
    })
  })
}
