import type { Mailer } from '@backstop/channels/deliver'
import { ATTEMPT_MS } from '@backstop/channels/deliver'
import { RETRY_RUNGS } from '@backstop/contracts'
import type { Bus, Producer } from '@backstop/kit/bus'
import type { Clock } from '@backstop/kit/clock'
import { createConsumerMetrics } from '@backstop/kit/consume'
import { createDelayLine, type DelayLineOptions } from '@backstop/kit/delay-line'
import type { Egress } from '@backstop/kit/egress'
import { joinCalls } from '@backstop/kit/join-calls'
import { LogLimit } from '@backstop/kit/log-budget'
import type { Logger } from '@backstop/kit/logger'
import type { Metrics } from '@backstop/kit/ops'
import { createOutboxPublisher, createOutboxSweeper } from '@backstop/kit/outbox'
import type { MessageCodec } from '@backstop/kit/registry'
import type { SecretBox } from '@backstop/kit/secret-box'
import type { Tracing } from '@backstop/kit/tracing'
import { ChannelDirectory } from './channels/channel-directory.ts'
import type { ChannelStore } from './channels/channel-store.ts'
import { createCommandConsumer } from './commands/command-consumer.ts'
import { createDeadLetterConsumer } from './dead-letters/dead-letter-consumer.ts'
import type { DeadLetterStore } from './dead-letters/dead-letter-store.ts'
import { DeliveryConsumer } from './delivery/delivery-consumer.ts'
import { createHeartbeatRemover } from './delivery/remove-heartbeats.ts'
import type { DeliveryStore } from './delivery-record/delivery-store.ts'
import { createAlertConsumer } from './fan-out/alert-consumer.ts'
import { ChannelHealthKeeper } from './health/channel-health-keeper.ts'
import { FailingChannels } from './health/failing-channels.ts'
import type { HealthStore } from './health/health-store.ts'
import { ActiveDeliveries } from './jobs/active-deliveries.ts'
import { createDeliveryMetrics } from './metrics.ts'
import { ReplayWalker } from './replay/replay-walker.ts'
import type { ReplayStore, RequeueStore } from './replay/requeue-store.ts'
import type { StormOptions } from './storm/join-storms.ts'
import type { StormSettings } from './storm/rules/storm-settings.ts'
import { createStormReporter } from './storm/storm-reporter.ts'
import type { StormStore } from './storm/storm-store.ts'
import type { SuppressionStore } from './suppressed-addresses/suppression-store.ts'

/** The stores of the notifier. */
export interface NotifierStores {
  readonly channels: ChannelStore
  readonly deliveries: DeliveryStore
  readonly deadLetters: DeadLetterStore
  readonly health: HealthStore
  readonly requeues: RequeueStore
  readonly replays: ReplayStore
  readonly suppressions: SuppressionStore
  readonly storms: StormStore
}

/** All dependencies of the notifier: stores, Kafka, HTTP client, mail client, clock and logger. */
export interface NotifierPorts extends NotifierStores {
  readonly bus: Bus
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly egress: Egress
  readonly mailer: Mailer
  readonly secretBox: SecretBox
  readonly logger: Logger
  readonly metrics: Metrics
  /** Undefined if traces are off. */
  readonly tracing?: Tracing | undefined
  /** False if the keys of this process are wrong, so that an attempt says nothing about its channel. Asked when a secret cannot be opened. */
  canOpenSecrets(): Promise<boolean>
  /** True if this process has more work than it can do. */
  isOverloaded(): boolean
  /** Called after an error from which the service cannot recover. */
  onFatal(error: unknown): void
}

export interface NotifierSettings {
  /** Base URL of links to the console, without a trailing slash. Null: messages contain no links to the console. */
  readonly publicUrl: string | null
  /** The brand name shown in messages. */
  readonly brandName: string
  /** Base URL of the management API, without a trailing slash. Null: mails contain no unsubscribe link. */
  readonly apiPublicUrl: string | null
  /** Maximum number of concurrent attempts in this process. */
  readonly maxActive: number
  /** Maximum number of deliveries that wait in memory for each channel. */
  readonly maxQueuedPerChannel: number
  /** Number of deliveries in memory at which reading from Kafka pauses; 2000 by default. */
  readonly maxInMemory?: number
  /** Time limit of one attempt, in milliseconds; 20 s by default. */
  readonly attemptMs?: number
  readonly storms: StormSettings
}

export interface NotifierApp {
  start(): Promise<void>
  /**
   * Waits until running attempts have ended and are recorded. Deliveries that have not started are read from Kafka
   * again, by this process or another one.
   */
  stop(): Promise<void>
  /** Milliseconds since the least active consumer last made progress. */
  msSinceProgress(): number
}

const SEND_TIMEOUT_MS = 15_000

/** Wires the notifier from its ports: fan-out, delivery and the five retry delay lines. Nothing runs before `start`. */
export function createApp(ports: NotifierPorts, settings: NotifierSettings): NotifierApp {
  const { bus, codec, clock, logger, onFatal } = ports
  const { publicUrl, brandName, apiPublicUrl, attemptMs = ATTEMPT_MS, storms: stormSettings, ...bounds } = settings
  const producer = bus.producer({ sendTimeoutMs: SEND_TIMEOUT_MS })
  const consumerMetrics = createConsumerMetrics(ports.metrics)
  const metrics = createDeliveryMetrics(ports.metrics)
  const logLimit = new LogLimit(ports)
  const shared = { bus, producer, codec, clock, logger, logLimit, onFatal }
  const { tracing } = ports
  const directory = new ChannelDirectory(ports.channels, clock)
  const source = ports.health.outbox
  const publisher = createOutboxPublisher({ source, producer, encoder: codec, logger })
  const health = new ChannelHealthKeeper({ health: ports.health, directory, publisher, clock, logger })
  const failing = new FailingChannels({ health: ports.health, channels: ports.channels, publisher, clock, logger })
  const outboxSweeper = createOutboxSweeper({ source, publisher, clock, logger })
  const active = new ActiveDeliveries(ports)
  const deliveries = new DeliveryConsumer({
    ...shared,
    active,
    metrics,
    tracing,
    consumerMetrics,
    deliveries: ports.deliveries,
    progressOf: joinCalls((ids: readonly string[]) => ports.deliveries.progressOf(ids)),
    findErasedActions: joinCalls((ids: readonly string[]) => ports.channels.findErasedActions(ids)),
    health,
    directory,
    isOverloaded: () => ports.isOverloaded(),
    canOpenSecrets: () => ports.canOpenSecrets(),
    ports: { ...ports, publicUrl, brandName, apiPublicUrl, attemptMs },
    ...bounds,
  })
  const storms = createStorms({
    ...shared,
    storms: ports.storms,
    secretBox: ports.secretBox,
    stormSettings,
  })
  const alerts = createAlertConsumer({
    ...shared,
    ...storms.options,
    metrics: consumerMetrics,
    tracing,
    channels: ports.channels,
    deliveries: ports.deliveries,
    active,
    publicUrl,
  })
  const again = { ...shared, requeues: ports.requeues, replays: ports.replays }
  const replayWalker = new ReplayWalker(again)
  const commands = createCommandConsumer({
    ...again,
    metrics: consumerMetrics,
    suppressions: ports.suppressions,
    deadLetters: ports.deadLetters,
    health,
    failing,
    onReplay: () => replayWalker.wake(),
  })
  const deadLetters = createDeadLetterConsumer({
    ...shared,
    deliveries: ports.deliveries,
    deadLetters: ports.deadLetters,
  })
  const delayLines = createDelayLines(shared)
  const loops = [alerts, deliveries, commands, deadLetters, ...delayLines]
  const heartbeats = createHeartbeatRemover({ ...shared, deliveries: ports.deliveries })
  const sweepers = [outboxSweeper, replayWalker, heartbeats, failing, ...storms.sweepers]
  ports.metrics.beforeRead(() => metrics.oldestPending(deliveries.oldestPendingMs()))
  return {
    async start() {
      await producer.start()
      await Promise.all(loops.map(loop => loop.start()))
      for (const sweeper of sweepers) sweeper.start()
      health.start()
    },
    async stop() {
      await Promise.all([...loops, ...sweepers].map(one => one.stop()))
      active.stop()
      await health.stop()
      await producer.stop()
    },
    msSinceProgress: () => Math.max(...loops.map(loop => loop.msSinceProgress())),
  }
}

/** The reporter of storms, and the sweeper that publishes its reports after a crash. */
function createStorms({
  producer,
  codec,
  ...options
}: StormOptions & { readonly producer: Producer; readonly codec: MessageCodec }) {
  const source = options.storms.outbox
  const publisher = createOutboxPublisher({ source, producer, encoder: codec, logger: options.logger })
  const sweeper = createOutboxSweeper({ ...options, source, publisher })
  return { options, sweepers: [createStormReporter({ ...options, publisher }), sweeper] }
}

/** One delay line per retry delay. Each has its own consumer group, so a rebalance of one does not interrupt the others. */
function createDelayLines(shared: Omit<DelayLineOptions, 'groupId' | 'topic' | 'maxDelayMs'>) {
  return RETRY_RUNGS.map(({ topic, delayMs }) =>
    createDelayLine({
      ...shared,
      groupId: topic.replace('deliveries', 'notifier'),
      topic,
      maxDelayMs: delayMs,
    }),
  )
}
