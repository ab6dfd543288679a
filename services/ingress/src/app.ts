import type { AddressInfo } from 'node:net'
import type { ProviderKind } from '@backstop/contracts'
import {
  type Bus,
  ByteBudget,
  type Clock,
  type LoadWatch,
  type Logger,
  listen,
  type MeasuredClock,
  type MessageCodec,
  type Metrics,
  type SocketLimitOptions,
} from '@backstop/kit'
import type { Connections } from './connections/connections.ts'
import { DRAIN_MS, MAX_BODY_BYTES, PROBE_INTERVAL_MS, SEND_LIMITS } from './http/limits.ts'
import { createRequestMetrics } from './http/request-metrics.ts'
import { createWebhookServer } from './http/server.ts'
import { WebhookHandler } from './http/webhook-handler.ts'
import { Intake, type Unready } from './intake/intake.ts'
import type { RateLimit } from './intake/rules/rate-limit.ts'
import { MicroBatcher } from './publish/micro-batcher.ts'

export type { Connections } from './connections/connections.ts'
export { INGRESS_CRASH_POINTS } from './crash-points.ts'
export type { Notification, Outcome } from './intake/intake.ts'

/** The outside of ingress, each part as narrow as it is used. */
export interface IngressPorts {
  readonly bus: Pick<Bus, 'producer'>
  /** Throws `unavailable` while the schema id is not known. */
  readonly codec: Pick<MessageCodec, 'schemaId'>
  readonly connections: Connections
  readonly load: Pick<LoadWatch, 'judge'>
  /** The time that signatures are checked against: nothing is accepted before it is measured. */
  readonly clock: Clock & Pick<MeasuredClock, 'isMeasured'>
  readonly logger: Logger
  readonly metrics: Metrics
}

export interface IngressSettings {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** Headers that may carry each provider's credential, in lower case. */
  readonly credentialHeaders: Readonly<Record<ProviderKind, readonly string[]>>
  /** How long an authentic event may wait for the broker's ack before the answer is 503, in milliseconds. */
  readonly publishTimeoutMs: number
  /** How long the first event of a batch waits for company, in milliseconds. */
  readonly lingerMs: number
  readonly queueMaxMessages: number
  readonly queueMaxBytes: number
  /** Bytes of bodies held at once, over all requests. */
  readonly bodiesMaxBytes: number
  /** How long a body may take to arrive, in milliseconds. */
  readonly bodyTimeoutMs: number
  readonly sockets: Pick<SocketLimitOptions, 'maxSockets' | 'maxPerAddress' | 'isTrustedProxy'>
  /** Events that one billing connection may send to this process. */
  readonly rateLimit: RateLimit
}

export interface IngressApp {
  start(): Promise<void>
  /** Finishes what is at hand, sends what is queued, disconnects. Takes 15 s at most. */
  stop(): Promise<void>
  /** The port it listens on; 0 before `start`. */
  port(): number
  /** Takes one notification without HTTP: for simulation. */
  readonly intake: Intake
  /** Why it should get no requests now, or undefined. Kafka being away is no reason: a 503 says more than no answer. */
  unready(): string | undefined
  updateGauges(): void
}

const UNREADY_TEXTS: Readonly<Record<Unready | 'stopping', string>> = {
  clock_not_measured: 'The clock was not compared with MongoDB or Kafka yet',
  connections_not_loaded: 'The connections were not read from MongoDB yet',
  schema_id_unknown: 'The schema id of notifications is unknown: check MongoDB, the schema registry and the deploy job',
  stopping: 'The process is stopping',
}

/** Wires ingress from its ports. Nothing runs before `start`. */
export function createApp(ports: IngressPorts, settings: IngressSettings): IngressApp {
  const { clock, connections, logger } = ports
  const metrics = createRequestMetrics(ports.metrics)
  const producer = ports.bus.producer({ sendTimeoutMs: settings.publishTimeoutMs })
  const batcher = new MicroBatcher(
    producer,
    clock,
    {
      ...SEND_LIMITS,
      probeIntervalMs: PROBE_INTERVAL_MS,
      lingerMs: settings.lingerMs,
      maxMessages: settings.queueMaxMessages,
      maxBytes: settings.queueMaxBytes,
      deadlineMs: settings.publishTimeoutMs,
    },
    metrics.recordSend,
  )
  const intake = new Intake({ connections, codec: ports.codec, batcher, clock, rateLimit: settings.rateLimit })
  const budget = new ByteBudget(settings.bodiesMaxBytes)
  let stopping = false
  const handler = new WebhookHandler({
    intake,
    load: ports.load,
    bodyLimits: { maxBytes: MAX_BODY_BYTES, timeoutMs: settings.bodyTimeoutMs, budget },
    credentialHeaders: {
      processor: new Set(settings.credentialHeaders.processor),
      reseller: new Set(settings.credentialHeaders.reseller),
      subscription: new Set(settings.credentialHeaders.subscription),
    },
    clock,
    logger,
    metrics,
    isStopping: () => stopping,
  })
  const { server, stop: stopServer } = createWebhookServer({
    handle: (request, response, expectsContinue) => handler.handle(request, response, expectsContinue),
    onRefused(status, reason) {
      const request = { method: '', provider: null, durationS: 0, byOldSecret: false }
      metrics.record({ ...request, status, result: 'refused', reason })
      // Thousands of silent clients are no thousands of lines: the metric counts them.
      if (reason !== 'silent') logger.info({ status, reason }, 'event.refused')
    },
    sockets: { ...settings.sockets, clock, logger, metrics: ports.metrics },
  })

  return {
    intake,
    async start() {
      await connections.start()
      await listen(server, settings.port, settings.host)
      // Connects early, so that the first event need not wait for it; a broker that is away is no fault here.
      await producer.start()
    },
    async stop() {
      stopping = true
      await closeServer()
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
    updateGauges() {
      metrics.recordState({
        queuedMessages: batcher.held.messages,
        bodyBytes: budget.held,
        connections: connections.count(),
      })
    },
  }

  /** Accepts nothing more and waits for the requests at hand; idle connections close at once. */
  function closeServer(): Promise<void> {
    return new Promise(resolve => {
      const cut = clock.schedule(DRAIN_MS, () => server.closeAllConnections())
      server.close(() => {
        cut()
        resolve()
      })
    })
  }
}
