import type { MessageName, TopicName } from '@backstop/contracts'
import {
  type Bus,
  type Clock,
  type ConsumerMetrics,
  crashPoint,
  createConsumerMetrics,
  createDelayLine,
  createOutboxPublisher,
  createOutboxSweeper,
  createWorkLoop,
  type Egress,
  type Logger,
  type MessageCodec,
  type Metrics,
  type OutboxPublisher,
  type Producer,
  type Received,
  type SecretBox,
} from '@backstop/kit'
import { type OpenBooks, publishLedger } from '@backstop/ledger'
import { createDeadLetteredEvents } from './batch/dead-lettered-events.ts'
import { type ReconcileParts, reconcileBatch } from './batch/reconcile-batch.ts'
import { createReporter } from './batch/report.ts'
import { itemOfEvent, type WorkItem } from './batch/work-item.ts'
import { ANSWER_WITHIN_MS } from './case/looks.ts'
import { createExpectedChanges, createNewExpectedChanges } from './commands/apply-expected-changes.ts'
import { createCommandConsumer } from './commands/command-consumer.ts'
import { createChannelIncidents } from './incidents/channel-incidents.ts'
import { createConnectionIncidents } from './incidents/connection-incidents.ts'
import { ConnectionReaders } from './reading/connection-readers.ts'
import { createHeldHints, type HeldHints } from './reading/held-hints.ts'
import { RereadConsumer } from './reading/reread-consumer.ts'
import { RETRY_DELAY_MS } from './reading/rules/reread-answer.ts'
import type { ReconcilerStores } from './store/store.ts'
import { createOverdueLooks } from './sweep/overdue-looks.ts'
import { createSweeper } from './sweep/sweeper.ts'

/** Everything outside the reconciler that it touches. */
export interface ReconcilerPorts {
  readonly bus: Bus
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly stores: ReconcilerStores
  /** The ledger's books over their store. */
  readonly openBooks: OpenBooks
  readonly logger: Logger
  readonly metrics: Metrics
  /** Milliseconds from first sight to second look. */
  readonly recheckDelayMs: number
  /** Milliseconds between two sweeps of one connection. */
  readonly sweepEveryMs: number
  /** Names this process among others. */
  readonly instance: string
  readonly egress: Egress
  readonly secretBox: Pick<SecretBox, 'open'>
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  /** Called when the service cannot go on by itself. */
  onFatal(error: unknown): void
}

export interface ReconcilerApp {
  start(): Promise<void>
  /** Drains: the batch at work is finished and acknowledged. */
  stop(): Promise<void>
  /** Milliseconds since any of its consumers last got on; liveness rests on it. */
  msSinceProgress(): number
}

/** What is worked on, and by which message type it is read. */
const SOURCES = {
  'inbound.processor': 'inbound-event',
  'inbound.reseller': 'inbound-event',
  'inbound.subscription': 'inbound-event',
  operations: 'operation',
  'rechecks.due': 'recheck',
  readbacks: 'readback',
} as const satisfies Partial<Record<TopicName, MessageName>>

const SEND_TIMEOUT_MS = 15_000
/**
 * A batch costs a fixed number of commands, so a larger one costs less for each event (docs/benchmarks.md); a much larger one
 * would hold its partition for too long when something is wrong with it.
 */
const MAX_BATCH_MESSAGES = 1_000

/** The reconciler: one loop over all that can change a verdict, the minute's delay line, and the nets under both. */
export function createReconciler(ports: ReconcilerPorts): ReconcilerApp {
  const { bus, codec, clock, logger, stores, onFatal } = ports
  const producer = bus.producer({ sendTimeoutMs: SEND_TIMEOUT_MS })
  const source = stores.cases.outbox
  const publisher = createOutboxPublisher({
    source,
    producer,
    encoder: codec,
    logger,
    afterSend: () => crashPoint('reconciler.after-publish'),
  })
  const books = publishLedger({ open: ports.openBooks, producer, encoder: codec, clock, logger })
  const parts: ReconcileParts = {
    stores,
    ledger: books.ledger,
    publisher,
    producer,
    codec,
    clock,
    rules: { recheckDelayMs: ports.recheckDelayMs },
    crashPoint,
  }
  const metrics = createConsumerMetrics(ports.metrics)
  const report = createReporter(logger, ports.metrics, metrics, clock)
  const reconcile = async (items: readonly WorkItem[]) => {
    const startedAt = clock.now()
    report(await reconcileBatch(items, parts), items.length, startedAt)
  }
  const loop = createWorkLoop({
    bus,
    producer,
    codec,
    clock,
    logger,
    metrics,
    groupId: 'reconciler',
    topics: SOURCES,
    maxBatchMessages: MAX_BATCH_MESSAGES,
    deadTopic: 'inbound.dead',
    parkingBook: createDeadLetteredEvents({ inbox: stores.inbox, clock }),
    handle: messages => reconcile(messages.map(toWorkItem)),
    onFatal,
  })
  const minute = createDelayLine({
    bus,
    producer,
    clock,
    logger,
    groupId: 'reconciler.rechecks',
    topic: 'rechecks',
    target: 'rechecks.due',
    maxDelayMs: Math.max(ports.recheckDelayMs, 1),
    onFatal,
  })
  const unanswered = createDelayLine({
    bus,
    producer,
    clock,
    logger,
    groupId: 'reconciler.rechecks.unanswered',
    topic: 'rechecks.unanswered',
    target: 'rechecks.due',
    maxDelayMs: ANSWER_WITHIN_MS,
    onFatal,
  })
  const outboxSweeper = createOutboxSweeper({ source, publisher, clock, logger })
  const incidents = stores.standaloneIncidents
  const incidentPublisher = createOutboxPublisher({
    source: incidents.outbox,
    producer,
    encoder: codec,
    logger,
    afterSend: () => crashPoint('reconciler.after-channel-alert'),
  })
  const incidentSweeper = createOutboxSweeper({
    source: incidents.outbox,
    publisher: incidentPublisher,
    clock,
    logger,
  })
  const heldHints = createHeldHints({ inbox: stores.inbox, producer, codec, clock })
  const expectedChanges = createExpectedChanges({ stores, reconcile })
  const newExpectedChanges = createNewExpectedChanges(expectedChanges, {
    expectedChanges: stores.expectedChanges,
    clock,
    logger,
  })
  const commands = createCommandConsumer({
    bus,
    producer,
    codec,
    clock,
    logger,
    metrics,
    channelIncidents: createChannelIncidents({ incidents, publisher: incidentPublisher, clock }),
    ledger: books.ledger,
    connections: stores.connections,
    heldHints,
    expectedChanges,
    sweeps: stores.sweeps,
    onFatal,
  })
  const { rereads, retries, sweeper } = createReading(ports, {
    producer,
    metrics,
    publisher: incidentPublisher,
    heldHints,
  })
  const overdueLooks = createOverdueLooks({ cases: stores.cases, producer, codec, clock, logger })
  const loops = [loop, minute, unanswered, commands, rereads, retries]
  const nets = [outboxSweeper, incidentSweeper, overdueLooks, newExpectedChanges]
  const sweepers = [...nets, sweeper, books.outboxSweeper, books.approvalTimers]
  return {
    async start() {
      await producer.start()
      await Promise.all(loops.map(one => one.start()))
      for (const sweeper of sweepers) sweeper.start()
    },
    async stop() {
      await Promise.all([...loops, ...sweepers].map(one => one.stop()))
      await producer.stop()
    },
    msSinceProgress: () => Math.max(...loops.map(one => one.msSinceProgress())),
  }
}

/** What asks the providers themselves: re-reads, their retries, and the sweep. */
function createReading(
  ports: ReconcilerPorts,
  shared: { producer: Producer; metrics: ConsumerMetrics; publisher: OutboxPublisher; heldHints: HeldHints },
) {
  const { producer, metrics, publisher, heldHints } = shared
  const { bus, codec, clock, logger, stores, egress, secretBox, random, onFatal } = ports
  const readers = new ConnectionReaders({ connections: stores.connections, secretBox, egress, clock, random })
  const rereads = new RereadConsumer({ bus, producer, codec, clock, logger, metrics, readers, onFatal })
  const retries = createDelayLine({
    bus,
    producer,
    clock,
    logger,
    groupId: 'reconciler.rereads.retry',
    topic: 'rereads.retry',
    target: 'rereads',
    maxDelayMs: RETRY_DELAY_MS,
    onFatal,
  })
  const sweeper = createSweeper({
    sweeps: stores.sweeps,
    connections: stores.connections,
    inbox: stores.inbox,
    readers,
    heldHints,
    incidents: createConnectionIncidents({ incidents: stores.standaloneIncidents, publisher, clock }),
    producer,
    codec,
    clock,
    logger,
    holder: ports.instance,
    everyMs: ports.sweepEveryMs,
    random,
  })
  return { rereads, retries, sweeper }
}

function toWorkItem(received: Received<(typeof SOURCES)[keyof typeof SOURCES]>): WorkItem {
  switch (received.name) {
    case 'inbound-event':
      return itemOfEvent(received.message)
    case 'operation':
      return { kind: 'operation', operation: received.message }
    case 'recheck':
      return { kind: 'recheck', recheck: received.message }
    case 'readback':
      return { kind: 'readback', readback: received.message }
    default:
      return received satisfies never
  }
}
