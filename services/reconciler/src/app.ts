import type { MessageName, TopicName } from '@backstop/contracts'
import type { Bus } from '@backstop/kit/bus'
import type { Clock } from '@backstop/kit/clock'
import { createConsumerMetrics, createWorkLoop, type Received } from '@backstop/kit/consume'
import { createDelayLine } from '@backstop/kit/delay-line'
import type { Egress } from '@backstop/kit/egress'
import { joinCalls } from '@backstop/kit/join-calls'
import type { Logger } from '@backstop/kit/logger'
import type { Metrics } from '@backstop/kit/ops'
import { createOutboxPublisher, createOutboxSweeper, type OutboxPublisher } from '@backstop/kit/outbox'
import type { MessageCodec } from '@backstop/kit/registry'
import type { SecretBox } from '@backstop/kit/secret-box'
import type { Tracing } from '@backstop/kit/tracing'
import { type OpenBooks, publishLedger } from '@backstop/ledger'
import { ANSWER_WITHIN_MS } from '@backstop/verdict'
import { createDeadLetteredEvents } from './batch/dead-lettered-events.ts'
import { type ReconcileParts, reconcileBatch } from './batch/reconcile-batch.ts'
import { createReporter } from './batch/report.ts'
import { reconcileTraced } from './batch/trace-messages.ts'
import { itemOfEvent, type WorkItem } from './batch/work-item.ts'
import { type BurstWatch, createBurstWatch } from './bursts/burst-watch.ts'
import { createExpectedChangeApplier, createExpectedChangeReapplier } from './commands/apply-expected-changes.ts'
import { createIncidentChanger } from './commands/change-incidents.ts'
import { createBulkChanger } from './commands/change-many-incidents.ts'
import { createCommandConsumer } from './commands/command-consumer.ts'
import { createPersonalDataEraser } from './erasure/personal-data-eraser.ts'
import { createInboxReplayer } from './inbox-replay/inbox-replayer.ts'
import { createConnectionIncidents } from './incidents/connection-incidents.ts'
import { createRequestedIncidents } from './incidents/requested-incidents.ts'
import { createNewEventLane } from './new-events/new-event-lane.ts'
import { batchesOfAllEvents, NEW_EVENT_BATCHES } from './new-events/rules/share-batches.ts'
import { ConnectionReaders } from './reading/connection-readers.ts'
import { createHeldHints } from './reading/held-hints.ts'
import { RereadConsumer } from './reading/reread-consumer.ts'
import { RETRY_DELAY_MS } from './reading/rules/reread-answer.ts'
import type { ReconcilerStores } from './stores.ts'
import { createOverdueLooks } from './sweep/overdue-looks.ts'
import { createHeartbeatRemover } from './sweep/remove-heartbeats.ts'
import { createSweeper } from './sweep/sweeper.ts'
import { createUnknownOperations } from './sweep/unknown-operations.ts'
import { createTotalsCounter } from './totals/totals-counter.ts'

/** The ports through which the reconciler uses everything outside it. */
export interface ReconcilerPorts {
  readonly bus: Bus
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly stores: ReconcilerStores
  readonly openBooks: OpenBooks
  readonly logger: Logger
  readonly metrics: Metrics
  /** Undefined if traces are off. */
  readonly tracing?: Tracing | undefined
  readonly egress: Egress
  readonly secretBox: Pick<SecretBox, 'open'>
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  /** Called when the service cannot continue. */
  onFatal(error: unknown): void
}

export interface ReconcilerSettings {
  /** Milliseconds from the first record of an unexplained action to its second look. */
  readonly recheckDelayMs: number
  /** Milliseconds between two sweeps of one connection. */
  readonly sweepEveryMs: number
  /** The name of this process in leases. */
  readonly leaseHolder: string
}

export interface ReconcilerApp {
  start(): Promise<void>
  /** Finishes and acknowledges the batch in flight, then stops. */
  stop(): Promise<void>
  /** Milliseconds since the least active consumer last made progress. */
  msSinceProgress(): number
}

/** The topics that can change a verdict, with the message type of each. */
const SOURCES = {
  'inbound.processor': 'inbound-event',
  'inbound.reseller': 'inbound-event',
  'inbound.subscription': 'inbound-event',
  operations: 'operation',
  'rechecks.due': 'recheck',
  readbacks: 'readback',
} as const satisfies Partial<Record<TopicName, MessageName>>

type SourceMessage = (typeof SOURCES)[keyof typeof SOURCES]

const SEND_TIMEOUT_MS = 15_000
/**
 * A batch costs a fixed number of commands, so a larger batch costs less for each event (docs/performance.md). A much larger
 * batch would block its partition for too long when it fails.
 */
const MAX_BATCH_MESSAGES = 1_000
/** More than the sources have on most installations: at a moderate rate all messages of one fetch are one batch. */
const MAX_PARTITIONS_AT_ONCE = 96
/**
 * Bytes of one partition in a fetch. kafkajs asks for the partitions in a random order, and Kafka answers with 4 MiB in all: with larger parts a
 * backlog of two partitions would fill every answer, and due second looks would wait for many fetches. A larger message comes when its
 * partition is the first.
 */
const MAX_FETCH_BYTES = 262_144

/** Wires the reconciler from its ports. Nothing runs before `start`. */
export function createApp(ports: ReconcilerPorts, settings: ReconcilerSettings): ReconcilerApp {
  const base = openSharedParts(ports)
  const { producer, books, incidentPublisher, tracing } = base
  const { outbox: source } = ports.stores.cases
  const publisher = createOutboxPublisher({ ...base, source, encoder: base.codec })
  const burstWatch = createBurstWatch({ ...base, ledger: books.ledger, publisher: incidentPublisher })
  const decideBatch = createBatchReconciler(base, publisher, settings, burstWatch)
  const reconcile = async (items: readonly WorkItem[]) => void (await decideBatch(items))
  const handle = async (messages: readonly Received<SourceMessage>[]) => {
    if (tracing === undefined) await reconcile(messages.map(toWorkItem))
    else await reconcileTraced(messages, tracing, toWorkItem, decideBatch)
  }
  const loopOptions = {
    ...base,
    maxBatchMessages: MAX_BATCH_MESSAGES,
    maxPartitionsAtOnce: MAX_PARTITIONS_AT_ONCE,
    maxFetchBytes: MAX_FETCH_BYTES,
  } as const
  const newEventLane = createNewEventLane({ ...loopOptions, maxBatchesAtOnce: NEW_EVENT_BATCHES, judge: handle })
  const handleJoined = joinCalls(handle, {
    maxItems: MAX_BATCH_MESSAGES,
    maxRuns: () => batchesOfAllEvents(newEventLane.hasWork()),
  })
  const loop = createWorkLoop({
    ...loopOptions,
    groupId: 'reconciler',
    topics: SOURCES,
    deadTopic: 'inbound.dead',
    deadLetterLog: createDeadLetteredEvents({ ...base.stores, clock: base.clock }),
    async handle(messages) {
      const open = messages.filter(message => message.name !== 'inbound-event' || !newEventLane.takeJudged(message))
      if (open.length > 0) await handleJoined(open)
      const [oldest] = messages
      if (oldest?.name === 'inbound-event') newEventLane.noteHandled(oldest.timestampMs)
    },
  })
  const looks = createLookParts(base, settings)
  const commands = createCommandParts(base, reconcile)
  const reading = createReadingParts(base, settings)
  const loops = [loop, ...looks.loops, ...commands.loops, ...reading.loops]
  const timers = [
    newEventLane,
    createOutboxSweeper({ ...base, source, publisher }),
    createOutboxSweeper({ ...base, source: base.stores.standaloneIncidents.outbox, publisher: incidentPublisher }),
    ...looks.timers,
    ...commands.timers,
    ...reading.timers,
    ...burstWatch.timers,
    createTotalsCounter({ ...base, totals: base.stores.totals }),
    createPersonalDataEraser({ ...base, erasures: base.stores.erasures, reconcile }),
    createHeartbeatRemover({ ...base, heartbeats: base.stores.heartbeats }),
    createUnknownOperations({
      ...base,
      ...base.stores,
      search: base.stores.operationSearch,
      ledger: books.ledger,
      reconcile,
    }),
    books.approvalTimers,
  ]
  return {
    async start() {
      await producer.start()
      await Promise.all(loops.map(loop => loop.start()))
      for (const timer of [books.announcer, ...timers]) timer.start()
    },
    async stop() {
      await Promise.all([...loops, ...timers].map(part => part.stop()))
      await books.announcer.stop()
      await producer.stop()
    },
    msSinceProgress: () => Math.max(...loops.map(loop => loop.msSinceProgress())),
  }
}

/** The ports, and the parts that several consumers share. */
interface SharedParts extends ReturnType<typeof openSharedParts> {}

function openSharedParts(ports: ReconcilerPorts) {
  const { bus, codec, clock, logger, stores } = ports
  const producer = bus.producer({ sendTimeoutMs: SEND_TIMEOUT_MS })
  const incidentPublisher = createOutboxPublisher({
    source: stores.standaloneIncidents.outbox,
    producer,
    encoder: codec,
    logger,
  })
  return {
    ...ports,
    producer,
    registry: ports.metrics,
    metrics: createConsumerMetrics(ports.metrics),
    books: publishLedger({ open: ports.openBooks, producer, encoder: codec, clock, logger }),
    incidentPublisher,
    heldHints: createHeldHints({ inbox: stores.inbox, producer, codec, clock }),
  }
}

/** Decides a batch and reports it. */
function createBatchReconciler(
  base: SharedParts,
  publisher: OutboxPublisher,
  { recheckDelayMs }: ReconcilerSettings,
  burstWatch: Pick<BurstWatch, 'note'>,
) {
  const { clock, logger, registry, metrics } = base
  const parts: ReconcileParts = { ...base, ledger: base.books.ledger, publisher, rules: { recheckDelayMs } }
  const report = createReporter(logger, registry, metrics, clock)
  return async (items: readonly WorkItem[]) => {
    const startedAt = clock.now()
    const result = await reconcileBatch(items, parts)
    report(result, items.length, startedAt)
    burstWatch.note(result.decided)
    return result
  }
}

/** Delivers the messages of due looks: delay lines, and a timer for looks whose message was lost. */
function createLookParts(base: SharedParts, { recheckDelayMs }: ReconcilerSettings) {
  const { stores, producer, codec, clock, logger } = base
  return {
    loops: [
      createDelayLine({
        ...base,
        groupId: 'reconciler.rechecks',
        topic: 'rechecks',
        maxDelayMs: Math.max(recheckDelayMs, 1),
      }),
      createDelayLine({
        ...base,
        groupId: 'reconciler.rechecks.unanswered',
        topic: 'rechecks.unanswered',
        maxDelayMs: ANSWER_WITHIN_MS,
      }),
    ],
    timers: [createOverdueLooks({ cases: stores.cases, producer, codec, clock, logger })],
  }
}

/** Carries out commands, and applies new expected changes whose command was lost. */
function createCommandParts(base: SharedParts, reconcile: (items: readonly WorkItem[]) => Promise<void>) {
  const { stores, books, clock, logger } = base
  const expectedChanges = createExpectedChangeApplier({ stores, reconcile })
  const incidentChanger = createIncidentChanger({ stores, reconcile, publisher: base.incidentPublisher, clock })
  const bulkChanger = createBulkChanger({ bulks: stores.incidentBulks, changer: incidentChanger, clock, logger })
  const inboxReplayer = createInboxReplayer({ ...base, replays: stores.inboxReplays })
  const incidents = createRequestedIncidents({
    incidents: stores.standaloneIncidents,
    connections: stores.connections,
    publisher: base.incidentPublisher,
    clock,
  })
  return {
    loops: [
      createCommandConsumer({
        ...base,
        incidents,
        ledger: books.ledger,
        connections: stores.connections,
        expectedChanges,
        incidentChanger,
        bulkChanger,
        inboxReplayer,
        sweeps: stores.sweeps,
        archivedActions: stores.archivedActions,
        totals: stores.totals,
      }),
    ],
    timers: [
      ...bulkChanger.timers,
      inboxReplayer,
      createExpectedChangeReapplier(expectedChanges, { expectedChanges: stores.expectedChanges, clock, logger }),
    ],
  }
}

/** Reads the providers: re-reads, their retries, and the sweep. */
function createReadingParts(base: SharedParts, { sweepEveryMs, leaseHolder }: ReconcilerSettings) {
  const { stores, clock } = base
  const readers = new ConnectionReaders({ ...base, connections: stores.connections })
  const incidents = createConnectionIncidents({
    incidents: stores.standaloneIncidents,
    publisher: base.incidentPublisher,
    clock,
  })
  return {
    loops: [
      new RereadConsumer({ ...base, readers, sweeps: stores.sweeps }),
      createDelayLine({
        ...base,
        groupId: 'reconciler.rereads.retry',
        topic: 'rereads.retry',
        maxDelayMs: RETRY_DELAY_MS,
      }),
    ],
    timers: [createSweeper({ ...base, ...stores, readers, incidents, holder: leaseHolder, everyMs: sweepEveryMs })],
  }
}

function toWorkItem(received: Received<SourceMessage>): WorkItem {
  switch (received.name) {
    case 'inbound-event':
      return itemOfEvent(received.message, received.headers)
    case 'operation':
      return { kind: 'operation', operation: received.message }
    case 'recheck':
      return { kind: 'recheck', recheck: received.message, receivedAtMs: received.receivedAtMs }
    case 'readback':
      return { kind: 'readback', readback: received.message }
    default:
      return received satisfies never
  }
}
