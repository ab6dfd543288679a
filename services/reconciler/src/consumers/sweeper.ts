import {
  type ConnectionDocument,
  deterministicId,
  HEADERS,
  type Readback,
  type ReadObject,
  type SweepDocument,
} from '@backstop/contracts'
import { type Clock, createPeriodic, type Logger, type MessageCodec, type Periodic, type Producer } from '@backstop/kit'
import { type ListedEvent, PROVIDERS, type ProviderReader, type SweepCursor, type SweepPage } from '@backstop/providers'
import { describeMissing, judgeFeed } from '../domain/silent-feed.ts'
import type { ConnectionReader, Inbox } from '../store/store.ts'
import type { SweepEnd, SweepStore } from '../store/sweeps.ts'
import type { ConnectionIncidents } from './connection-incidents.ts'
import type { ConnectionReaders } from './connection-readers.ts'
import type { HeldHints } from './held-hints.ts'

export interface SweeperOptions {
  readonly sweeps: SweepStore
  readonly connections: Pick<ConnectionReader, 'readable'>
  readonly inbox: Pick<Inbox, 'known'>
  readonly readers: Pick<ConnectionReaders, 'of'>
  readonly heldHints: HeldHints
  readonly incidents: ConnectionIncidents
  readonly producer: Producer
  readonly codec: Pick<MessageCodec, 'encode'>
  readonly clock: Clock
  readonly logger: Logger
  /** Names this process in leases. */
  readonly holder: string
  /** Milliseconds between two sweeps of one connection. */
  readonly everyMs: number
}

/** How often due sweeps are looked for, in milliseconds. */
const LOOK_EVERY_MS = 5_000
/** A lease outlives the longest page: its provider's deadline with all retries. It is renewed with each page. */
const LEASE_MS = 120_000
/** Pages of one connection in one run: what is left goes on in the next, so that others have their turn. */
const MAX_PAGES = 20
/** Connections at once. */
const AT_ONCE = 4

type PageFailure = Extract<SweepPage, { kind: 'failed' }>

/**
 * Lists, for every connection with a read key, what its provider has: what no notification ever told is found, and goes
 * through the same decisions. Each connection has a stored cursor and one process at a time.
 */
export function createSweeper(options: SweeperOptions): Periodic {
  const { sweeps, clock, logger, holder } = options

  async function run(isStopping: () => boolean): Promise<void> {
    const readable = await options.connections.readable()
    await sweeps.ensure(
      readable.map(({ _id, project_id }) => ({ id: _id, projectId: project_id })),
      clock.now(),
    )
    const one = async (): Promise<void> => {
      while (!isStopping()) {
        const claimed = await sweeps.claim(holder, clock.now(), LEASE_MS)
        if (claimed === undefined) return
        await sweepOne(claimed, options, isStopping)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, one))
  }

  return createPeriodic({
    clock,
    pauseMs: LOOK_EVERY_MS,
    run,
    onFailure: error => logger.warn({ error }, 'sweep.failed'),
  })
}

/** One run of one connection. What fails is recorded, and the next run goes on where this one ended. */
async function sweepOne(sweep: SweepDocument, options: SweeperOptions, isStopping: () => boolean): Promise<void> {
  const { sweeps, readers, clock, logger, holder, everyMs } = options
  const facts = { connection_id: sweep._id, project_id: sweep.project_id }
  const opened = await readers.of(sweep._id)
  const release = (nextInMs: number, changes: Omit<SweepEnd, 'next_run_at' | 'last_run_at'>) => {
    const now = clock.now()
    return sweeps.release(sweep._id, holder, {
      next_run_at: new Date(now + nextInMs),
      last_run_at: new Date(now),
      ...changes,
    })
  }
  if (opened.kind === 'none') {
    await release(everyMs, { last_error: opened.text, failing_since: null })
    return
  }
  const ended = await readAll({ ...sweep }, opened.connection, opened.reader, options, isStopping)
  if (ended.kind === 'failed') {
    logger.warn({ ...facts, failure: ended.failure, text: ended.text }, 'sweep.not_read')
    const open_incidents = await tellUnverified(sweep, opened.connection, ended, options)
    const nextInMs = Math.max(everyMs, ended.retryAfterMs ?? 0)
    const failing_since = sweep.failing_since ?? new Date(clock.now())
    await release(nextInMs, { last_error: ended.text, failing_since, open_incidents })
    return
  }
  // Also what was held in the very moment in which the connection became readable.
  const requested = await options.heldHints.request(opened.connection)
  const { unseen, open_incidents } = await judge(sweep, opened.connection, ended.events, options)
  logger.info({ ...facts, objects: ended.objects, pages: ended.pages, hints: requested, done: ended.done }, 'sweep.run')
  await release(ended.done ? everyMs : 0, {
    last_error: null,
    failing_since: null,
    unverified_since: null,
    unseen: [...unseen].map(toUnseen),
    open_incidents,
  })
}

interface Ended {
  readonly kind: 'ended'
  readonly events: readonly ListedEvent[]
  readonly objects: number
  readonly pages: number
  readonly done: boolean
}

async function readAll(
  sweep: SweepDocument,
  connection: ConnectionDocument,
  reader: ProviderReader,
  options: SweeperOptions,
  isStopping: () => boolean,
): Promise<Ended | PageFailure> {
  const { sweeps, clock, holder } = options
  const events: ListedEvent[] = []
  let objects = 0
  let { baseline_at } = sweep
  let cursor: SweepCursor | null = sweep.cursor
  for (let pages = 1; ; pages++) {
    // Before it is read: what an event tells meanwhile is newer.
    const readAt = clock.now()
    const page =
      baseline_at === null
        ? await reader.schedules(cursor)
        : await reader.changes(cursor, connection.created_at.getTime())
    if (page.kind === 'failed') return page
    await publish(page.objects, baseline_at === null ? 'baseline' : 'sweep', connection, readAt, options)
    events.push(...page.events)
    objects += page.objects.length
    const ended = page.done && baseline_at !== null
    // The baseline's cursor is at its end: the sweep begins with one of its own.
    cursor = page.done && baseline_at === null ? null : page.cursor
    if (page.done && baseline_at === null) baseline_at = new Date(clock.now())
    const leased_until = new Date(clock.now() + LEASE_MS)
    const isOurs = await sweeps.save(connection._id, holder, {
      cursor: cursor && { ...cursor },
      baseline_at,
      leased_until,
    })
    if (ended || !isOurs || pages >= MAX_PAGES || isStopping()) {
      return { kind: 'ended', events, objects, pages, done: ended }
    }
  }
}

async function publish(
  objects: readonly ReadObject[],
  reason: 'sweep' | 'baseline',
  connection: ConnectionDocument,
  readAtMs: number,
  { producer, codec }: SweeperOptions,
): Promise<void> {
  if (objects.length === 0) return
  const readAt = new Date(readAtMs).toISOString()
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

/** Whether notifications arrive, by what the provider lists; opens and resolves FEED_SILENT, resolves the other. */
async function judge(
  sweep: SweepDocument,
  connection: ConnectionDocument,
  listed: readonly ListedEvent[],
  { inbox, incidents, clock }: SweeperOptions,
): Promise<{ unseen: readonly ListedEvent[]; open_incidents: SweepDocument['open_incidents'] }> {
  const asked: ReadonlySet<string> = new Set(PROVIDERS[connection.kind].subscribedEvents)
  const relevant = listed.filter(event => asked.has(event.eventType))
  const before = sweep.unseen.map(fromUnseen)
  const inboxId = (eventId: string) => `${connection._id}/${eventId}`
  const known = await inbox.known([...before, ...relevant].map(event => inboxId(event.eventId)))
  const arrived = new Set([...before, ...relevant].map(e => e.eventId).filter(id => known.has(inboxId(id))))
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

/** Hints wait for what cannot be read: people are told once. */
async function tellUnverified(
  sweep: SweepDocument,
  connection: ConnectionDocument,
  { text }: PageFailure,
  { incidents }: SweeperOptions,
): Promise<SweepDocument['open_incidents']> {
  if (sweep.unverified_since === null) return sweep.open_incidents
  const since = sweep.unverified_since.getTime()
  const told = `its notifications cannot be verified since ${sweep.unverified_since.toISOString()}: ${text}. They are kept, and judged once its data can be read`
  return incidents.open(connection, 'VERIFICATION_UNAVAILABLE', since, told, sweep.open_incidents)
}

type Unseen = SweepDocument['unseen'][number]

function toUnseen({ eventId, eventType, createdAt }: ListedEvent): Unseen {
  return { event_id: eventId, event_type: eventType, created_at: new Date(createdAt) }
}

function fromUnseen({ event_id, event_type, created_at }: Unseen): ListedEvent {
  return { eventId: event_id, eventType: event_type, createdAt: created_at.getTime() }
}
