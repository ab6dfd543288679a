import {
  deterministicId,
  HEADERS,
  isoTime,
  type Readback,
  type ReadObject,
  type SweepDocument,
} from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import { type Clock, createPeriodic, type Periodic, within } from '@backstop/kit/clock'
import { AppError } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import type { MessageCodec } from '@backstop/kit/registry'
import { type ListedEvent, PROVIDERS, type ProviderReader, type SweepCursor, type SweepPage } from '@backstop/providers'
import type { ConnectionReader, KeptConnection } from '../connections/connection-reader.ts'
import type { Inbox } from '../inbox/inbox-store.ts'
import type { ConnectionIncidents } from '../incidents/connection-incidents.ts'
import type { ConnectionReaders } from '../reading/connection-readers.ts'
import type { HeldHints } from '../reading/held-hints.ts'
import { pauseAfterFailures } from '../reading/rules/reading-pause.ts'
import { findArrived } from './arrived-events.ts'
import { describeMissing, judgeFeed } from './rules/silent-feed.ts'
import { type SweepRun, sweepRunOf } from './rules/sweep-day.ts'
import type { SweepDayStore } from './sweep-day-store.ts'
import { createSweepPool } from './sweep-pool.ts'
import type { SweepEnd, SweepStore } from './sweep-store.ts'

export interface SweeperOptions {
  readonly sweeps: SweepStore
  readonly sweepDays: SweepDayStore
  readonly connections: Pick<ConnectionReader, 'readable'>
  readonly inbox: Pick<Inbox, 'known' | 'newestOf'>
  readonly readers: Pick<ConnectionReaders, 'readerFor'>
  readonly heldHints: HeldHints
  readonly incidents: ConnectionIncidents
  readonly producer: Producer
  readonly codec: Pick<MessageCodec, 'encode'>
  readonly clock: Clock
  readonly logger: Logger
  /** The name of this process in leases. */
  readonly holder: string
  /** Milliseconds between two sweeps of one connection. */
  readonly everyMs: number
  /** From 0 to 1, for jitter. */
  readonly random: () => number
}

/** How often to check for due sweeps, in milliseconds. */
const CHECK_EVERY_MS = 2_000
/** How often to check for new connections, in milliseconds. */
const NEW_CONNECTIONS_EVERY_MS = 5_000
/** Longer than the longest run, in milliseconds. The lease is renewed with each page. */
const LEASE_MS = 120_000
/** A run is abandoned after this time, in milliseconds, so that a provider cannot use a place for longer. */
const MAX_RUN_MS = 110_000
/** A run stops paging after this many milliseconds; the next run continues from its cursor. */
const MAX_PAGING_MS = 30_000
const MAX_PAGES = 20

type PageFailure = Extract<SweepPage, { kind: 'failed' }>

/**
 * Lists each readable connection's data at its provider, so that changes without a notification are found too. They go
 * through the same decisions. Each connection has a stored cursor, and one process at a time sweeps it.
 */
export function createSweeper(options: SweeperOptions): Periodic {
  const { sweeps, clock, logger } = options
  const onFailure = (error: unknown) => logger.warn({ error }, 'sweep.failed')
  let runs = 0
  const pool = createSweepPool({
    clock,
    // Each run has its own lease, so an abandoned run cannot change anything later.
    claim: compartment => sweeps.claim(`${options.holder}/${runs++}`, clock.now(), LEASE_MS, compartment),
    run: (sweep, stopping) => runSweep(sweep, options, stopping).catch(onFailure),
    onFailure,
  })
  const due = createPeriodic({
    clock,
    pauseMs: CHECK_EVERY_MS,
    async run() {
      if (await sweeps.hasDue(clock.now())) pool.fill()
    },
    onFailure,
  })
  const newOnes = createPeriodic({
    clock,
    pauseMs: NEW_CONNECTIONS_EVERY_MS,
    async run() {
      const readable = await options.connections.readable()
      await sweeps.ensure(
        readable.map(({ _id, project_id }) => ({ id: _id, projectId: project_id })),
        clock.now(),
      )
    },
    onFailure,
  })
  return {
    start() {
      due.start()
      newOnes.start()
    },
    async stop() {
      await Promise.all([due.stop(), newOnes.stop(), pool.stop()])
    },
  }
}

/** The result of a run. */
type RunEnd =
  | ({
      readonly kind: 'swept'
      readonly done: boolean
      readonly unseen: readonly ListedEvent[]
      readonly run: SweepRun | null
    } & Progress &
      OpenIncidents)
  | ({ readonly kind: 'not_read'; readonly text: string; readonly retryAfterMs: number | null } & OpenIncidents)
  | { readonly kind: 'no_reader'; readonly text: string }
  | { readonly kind: 'deleted' }
  /** This process stops. Another process continues from the cursor. */
  | { readonly kind: 'stopped' }

type OpenIncidents = Pick<SweepDocument, 'open_incidents'>
type Progress = Pick<SweepDocument, 'cursor' | 'baseline_at'>

/** One run for one connection, from its claim to the end of its lease. */
async function runSweep(sweep: SweepDocument, options: SweeperOptions, stopping: AbortSignal): Promise<void> {
  const { sweeps, clock, logger } = options
  const { open_incidents, project_id } = sweep
  const late: RunEnd = { kind: 'not_read', text: 'The sweep did not end in time', retryAfterMs: null, open_incidents }
  const run = (signal: AbortSignal) =>
    sweepOne(sweep, options, signal).catch((error: unknown): RunEnd => {
      logger.warn({ connection_id: sweep._id, project_id, error }, 'sweep.failed')
      const text = error instanceof AppError ? error.message : 'The sweep failed on our side; the log says why'
      return { kind: 'not_read', text, retryAfterMs: null, open_incidents }
    })
  const end = await within(clock, MAX_RUN_MS, run, late, stopping)
  const holder = sweep.lease_holder ?? ''
  if (end.kind === 'swept' && end.run !== null) await options.sweepDays.add(end.run)
  if (end.kind === 'deleted') return sweeps.remove(sweep._id, holder)
  const change = changesAtEnd(sweep, end === late && stopping.aborted ? { kind: 'stopped' } : end, options)
  await sweeps.release(sweep._id, holder, change)
}

/** The changes at the end of a run. A failure is recorded, and the next run continues from the cursor. */
function changesAtEnd(
  sweep: SweepDocument,
  end: Exclude<RunEnd, { kind: 'deleted' }>,
  { clock, everyMs, random }: SweeperOptions,
): SweepEnd {
  const now = clock.now()
  const next = (inMs: number) => ({ next_run_at: new Date(now + inMs), last_run_at: new Date(now) })
  switch (end.kind) {
    case 'stopped':
      return { next_run_at: sweep.next_run_at, last_run_at: sweep.last_run_at }
    case 'no_reader':
      return { ...next(everyMs), last_error: end.text, failing_since: null, failures: 0 }
    case 'not_read': {
      const failures = (sweep.failures ?? 0) + 1
      return {
        ...next(pauseAfterFailures(failures, everyMs, end.retryAfterMs, random())),
        last_error: end.text,
        failing_since: sweep.failing_since ?? new Date(now),
        failures,
        open_incidents: end.open_incidents,
      }
    }
    case 'swept':
      return {
        ...next(end.done ? everyMs : 0),
        cursor: end.cursor,
        baseline_at: end.baseline_at,
        ...(end.run?.readUntil && { completed_at: end.run.endedAt, read_until: end.run.readUntil }),
        last_error: null,
        failing_since: null,
        failures: 0,
        unverified_since: null,
        unseen: end.unseen.map(toUnseen),
        open_incidents: end.open_incidents,
      }
    default:
      return end satisfies never
  }
}

/** Sweeps one connection, and opens or resolves its incidents. */
async function sweepOne(sweep: SweepDocument, options: SweeperOptions, signal: AbortSignal): Promise<RunEnd> {
  const { readers, logger } = options
  const facts = { connection_id: sweep._id, project_id: sweep.project_id }
  const opened = await readers.readerFor(sweep._id)
  if (opened.kind === 'none') return opened.isDeleted ? { kind: 'deleted' } : { kind: 'no_reader', text: opened.text }
  const ended = await readPages({ ...sweep }, opened.connection, opened.reader, options, signal)
  if (signal.aborted) return { kind: 'stopped' }
  if (ended.kind === 'failed') {
    const { failure, text, retryAfterMs } = ended
    logger.warn({ ...facts, failure, text }, 'sweep.read_failed')
    const open_incidents = await reportUnverified(sweep, opened.connection, ended, options)
    return { kind: 'not_read', text, retryAfterMs, open_incidents }
  }
  // Includes hints that were held at the moment when the connection became readable.
  const requested = await options.heldHints.request(opened.connection)
  const { unseen, open_incidents } = await checkFeed(sweep, opened.connection, ended.events, options)
  const { objects, pages, done, cursor, baseline_at } = ended
  logger.info({ ...facts, objects, pages, hints: requested, done }, 'sweep.finished')
  const run = sweepRunOf(sweep, ended, opened.connection.created_at, options.clock.now(), options.everyMs)
  return { kind: 'swept', done, cursor, baseline_at, unseen, open_incidents, run }
}

interface PagesRead extends Progress {
  readonly kind: 'ended'
  readonly events: readonly ListedEvent[]
  readonly objects: number
  readonly pages: number
  readonly done: boolean
  /** Null if the last page is not the end of the changes. */
  readonly readUntilMs: number | null
}

/**
 * Reads pages and publishes their objects. The progress is saved before each further page. That of the last page is saved with the end of
 * the run, unless this process stops.
 */
async function readPages(
  sweep: SweepDocument,
  connection: KeptConnection,
  reader: ProviderReader,
  options: SweeperOptions,
  signal: AbortSignal,
): Promise<PagesRead | PageFailure> {
  const { sweeps, clock } = options
  const begunAt = clock.now()
  const events: ListedEvent[] = []
  let objects = 0
  let { baseline_at } = sweep
  let cursor: SweepCursor | null = sweep.cursor
  for (let pages = 1; ; pages++) {
    // The time before the request, so that events during the request count as newer.
    const readAt = clock.now()
    const page =
      baseline_at === null
        ? await reader.schedules(cursor, signal)
        : await reader.changes(cursor, connection.created_at.getTime(), signal)
    if (page.kind === 'failed') return page
    await publish(page.objects, baseline_at === null ? 'baseline' : 'sweep', connection, readAt, options)
    events.push(...page.events)
    objects += page.objects.length
    const ended = page.done && baseline_at !== null
    // The baseline's cursor has reached its end, so the sweep begins with a new cursor.
    cursor = page.done && baseline_at === null ? null : page.cursor
    if (page.done && baseline_at === null) baseline_at = new Date(clock.now())
    const progress: Progress = { cursor: cursor && { ...cursor }, baseline_at }
    const readUntilMs = ended ? (page.readUntil ?? null) : null
    const read = { kind: 'ended', ...progress, events, objects, pages, done: ended, readUntilMs } as const
    const isLong = pages >= MAX_PAGES || clock.now() - begunAt >= MAX_PAGING_MS
    if ((ended || isLong) && !signal.aborted) return read
    const leased_until = new Date(clock.now() + LEASE_MS)
    const isOurs = await sweeps.save(connection._id, sweep.lease_holder ?? '', { ...progress, leased_until })
    if (!isOurs || signal.aborted) return read
  }
}

async function publish(
  objects: readonly ReadObject[],
  reason: 'sweep' | 'baseline',
  connection: KeptConnection,
  readAtMs: number,
  { producer, codec }: SweeperOptions,
): Promise<void> {
  if (objects.length === 0) return
  const readAt = isoTime(readAtMs)
  await producer.send(
    objects.map((object, index) => {
      const readback: Readback = {
        readback_id: deterministicId('readback', connection._id, reason, readAt, String(index)),
        project_id: connection.project_id,
        connection_id: connection._id,
        provider: connection.kind,
        reason,
        event: null,
        look: null,
        targets: [],
        read_at: readAt,
        outcome: 'read',
        failure: null,
        objects: [object],
      }
      return {
        topic: 'readbacks' as const,
        key: connection._id,
        value: codec.encode('readback', readback),
        headers: { [HEADERS.messageId]: readback.readback_id },
      }
    }),
  )
}

/**
 * Checks whether the listed events arrived: opens or resolves FEED_SILENT. It also resolves VERIFICATION_UNAVAILABLE,
 * because the provider could be read.
 */
async function checkFeed(
  sweep: SweepDocument,
  connection: KeptConnection,
  listed: readonly ListedEvent[],
  { inbox, incidents, clock }: SweeperOptions,
): Promise<{ unseen: readonly ListedEvent[]; open_incidents: SweepDocument['open_incidents'] }> {
  const asked: ReadonlySet<string> = new Set(PROVIDERS[connection.kind].subscribedEvents)
  const relevant = listed.filter(event => asked.has(event.eventType))
  const before = sweep.unseen.map(fromUnseen)
  const arrived = await findArrived(connection, [...before, ...relevant], inbox)
  const madeAt = connection.created_at.getTime()
  const feed = judgeFeed({ unseen: before }, relevant, arrived, madeAt, clock.now())
  let open = await incidents.resolve(connection, 'VERIFICATION_UNAVAILABLE', sweep.open_incidents)
  if (feed.kind === 'silent') {
    const first = Math.min(...feed.missing.map(event => event.createdAt))
    open = await incidents.open(connection, 'FEED_SILENT', first, describeMissing(feed.missing), open)
  } else if (feed.kind === 'works') {
    open = await incidents.resolve(connection, 'FEED_SILENT', open)
  }
  return { unseen: feed.unseen, open_incidents: open }
}

/** Opens an incident, once, if hints wait because the provider cannot be read. */
async function reportUnverified(
  sweep: SweepDocument,
  connection: KeptConnection,
  { text }: PageFailure,
  { incidents }: SweeperOptions,
): Promise<SweepDocument['open_incidents']> {
  if (sweep.unverified_since === null) return sweep.open_incidents
  const since = sweep.unverified_since.getTime()
  const fault = `its notifications could not be checked since ${sweep.unverified_since.toISOString()}: ${text}. They are kept, and checked as soon as the provider can be read`
  return incidents.open(connection, 'VERIFICATION_UNAVAILABLE', since, fault, sweep.open_incidents)
}

type Unseen = SweepDocument['unseen'][number]

function toUnseen({ eventId, eventType, createdAt }: ListedEvent): Unseen {
  return { event_id: eventId, event_type: eventType, created_at: new Date(createdAt) }
}

function fromUnseen({ event_id, event_type, created_at }: Unseen): ListedEvent {
  return { eventId: event_id, eventType: event_type, createdAt: created_at.getTime() }
}
