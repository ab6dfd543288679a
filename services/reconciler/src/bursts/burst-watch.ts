import {
  type Action,
  type BurstDocument,
  type LookedConnection,
  type OutOfBand,
  outOfBandOf,
} from '@backstop/contracts'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { OutboxPublisher } from '@backstop/kit/outbox'
import type { Ledger } from '@backstop/ledger'
import {
  BURST_MIN,
  BURST_WINDOW_MS,
  countLate,
  dayNumberOf,
  decideBurst,
  describeBurst,
  HISTORY_DAYS,
  halfHourOf,
  judgeBurstEnd,
  openBurstIncident,
  PART_MS,
  permissionToAlert,
  resolveBurstIncident,
} from '@backstop/verdict'
import {
  type ConnectionReader,
  type ConnectionWithAccounts,
  type NamedConnection,
  namesOf,
} from '../connections/connection-reader.ts'
import type { StandaloneIncidentStore } from '../incidents/standalone-incident-store.ts'
import type { BurstStore, SeenAction } from './burst-store.ts'
import { hasLearned, isUnusual, LearnedWaits, takeBusiestPart, type Unstored } from './learned-waits.ts'

const COUNT_EVERY_MS = 1_000
/** How often a process counts although it saw nothing new: another process may have been killed before it counted. */
const COUNT_ANYWAY_MS = 5_000
/** The part of the time that counts may take. A connection with thousands of late reports is counted less often. */
const MAX_SHARE = 0.05
const CHECK_AFTER_MS = 5_000
/** After a confirmed burst its actions continue as a storm. */
const QUIET_MS = 600_000
const STORE_EVERY_MS = 60_000
/** Longer than a burst may be open: what was learned during a burst that was explained is stored afterwards. */
const KEEP_MS = 900_000
const MAX_PENDING = 50_000
const MAX_ACTIONS = 10_000
const MAX_DUE = 20

export interface BurstWatchParts {
  readonly stores: {
    readonly bursts: BurstStore
    readonly connections: Pick<ConnectionReader, 'byIds' | 'withAccounts'>
    readonly standaloneIncidents: Pick<StandaloneIncidentStore, 'open' | 'find' | 'replace' | 'pendingOf'>
  }
  readonly ledger: Pick<Ledger, 'hasExecuted'>
  readonly publisher: OutboxPublisher
  readonly clock: Clock
  readonly logger: Logger
}

/** Warns of many unexplained actions before their second looks (docs/storms.md). */
export interface BurstWatch {
  /** Notes the actions that a batch decided. Costs no read and no write. */
  note(decided: readonly Action[]): void
  readonly timers: readonly Periodic[]
}

export function createBurstWatch(parts: BurstWatchParts): BurstWatch {
  const { clock, logger } = parts
  const learned = new LearnedWaits()
  let countedAt = Number.NEGATIVE_INFINITY
  // While no connection has many, only new ones can change that.
  let hadMany = true

  async function count(): Promise<void> {
    const now = clock.now()
    const hasNew = learned.takeNewPending() > 0
    if (!hasNew && !hadMany && now < countedAt + COUNT_ANYWAY_MS) return
    countedAt = now
    // Until this count succeeds, the next one must not be skipped.
    hadMany = true
    const pending = await parts.stores.bursts.pending(now, MAX_PENDING)
    const many = [...Map.groupBy(pending, ({ connectionId }) => connectionId)]
      .map(([connectionId, actions]) => ({ connectionId, since: actions.map(({ firstSeenAt }) => firstSeenAt) }))
      .filter(({ since }) => since.length >= BURST_MIN)
    if (many.length > 0) await examine(many, parts, learned, now)
    hadMany = many.length > 0
  }

  return {
    note: decided => learned.note(decided, clock.now()),
    timers: [
      createPeriodic({
        clock,
        pauseMs: COUNT_EVERY_MS,
        maxShare: MAX_SHARE,
        run: count,
        onFailure: error => logger.warn({ error }, 'bursts.not_counted'),
      }),
      createPeriodic({
        clock,
        pauseMs: CHECK_AFTER_MS,
        run: () => checkOpen(parts),
        onFailure: error => logger.warn({ error }, 'bursts.not_checked'),
      }),
      createPeriodic({
        clock,
        pauseMs: STORE_EVERY_MS,
        run: () => storeLearned(learned, parts),
        onFailure: error => logger.warn({ error }, 'bursts.not_learned'),
      }),
    ],
  }
}

interface ManyPending {
  readonly connectionId: string
  /** When each of them was first seen. */
  readonly since: readonly number[]
}

/** Decides about each connection with at least ten pending actions. */
async function examine(
  many: readonly ManyPending[],
  parts: BurstWatchParts,
  learned: LearnedWaits,
  now: number,
): Promise<void> {
  const { bursts, connections } = parts.stores
  const ids = many.map(({ connectionId }) => connectionId)
  const [documents, named, executed] = await Promise.all([
    bursts.byIds(ids),
    connections.withAccounts(ids),
    parts.ledger.hasExecuted(ids),
  ])
  for (const { connectionId, since } of many) {
    const connection = named.get(connectionId)
    if (connection === undefined) continue
    learned.noteLate(connectionId, connection.project_id, countLate(since, now), now)
    const document = documents.get(connectionId)
    if (document === undefined) await bursts.ensure(connectionId, connection.project_id)
    if (document?.open != null) continue
    const known = { connection, document, hasExecuted: executed.has(connectionId) }
    await examineConnection(known, since, parts, now)
  }
}

interface KnownConnection {
  readonly connection: ConnectionWithAccounts
  readonly document: BurstDocument | undefined
  readonly hasExecuted: boolean
}

async function examineConnection(
  { connection, document, hasExecuted }: KnownConnection,
  since: readonly number[],
  parts: BurstWatchParts,
  now: number,
): Promise<void> {
  const { bursts } = parts.stores
  const { _id: id, project_id, created_at, status, burst_alarm } = connection
  const watched = {
    connection_id: id,
    out_of_band: strictestOf(connection),
    deleted: status === 'deleted',
    has_executed: hasExecuted,
    createdAt: created_at.getTime(),
    isAlarmOn: burst_alarm ?? true,
    history: { days: document?.days ?? {} },
  }
  const mayBe = decideBurst(watched, since, since, now)
  if (mayBe.answer !== 'burst' && mayBe.answer !== 'reports_may_be_late') return
  const all = await bursts.seen(id, now - BURST_WINDOW_MS, now, MAX_ACTIONS)
  const seen = all.filter(mayAlert(watched, connection))
  const pending = seen.filter(({ verdict }) => verdict === 'pending')
  const pendingSince = seen.length === all.length ? since : timesOf(pending)
  const decision = decideBurst(watched, pendingSince, timesOf(seen), now)
  if (decision.answer !== 'burst') return
  const quietUntil = document?.quiet_until.getTime() ?? 0
  if (now < quietUntil) {
    // One write a minute while the storm goes on.
    if (quietUntil < now + QUIET_MS - STORE_EVERY_MS) await bursts.extendQuiet(id, now + QUIET_MS)
    return
  }
  const [first, ...others] = pending
  if (first === undefined || pending.length < BURST_MIN) return
  const burst = describeBurst([first, ...others], decision.why)
  const known = document ?? (await bursts.byIds([id])).get(id)
  if (known === undefined || !(await bursts.open(known, { at: new Date(now), burst }, now + CHECK_AFTER_MS))) return
  parts.logger.warn({ connection_id: id, project_id, count: burst.count, ...burst.why }, 'burst.began')
  await openIncident({ connectionId: id, projectId: project_id, openedAt: now, burst }, connection, parts)
}

/** The strictest setting of the connection and its accounts: one account that alerts is enough to look at it. */
function strictestOf({ out_of_band, accounts = [] }: ConnectionWithAccounts): OutOfBand {
  const settings = new Set([out_of_band, ...accounts.map(setting => setting.out_of_band)])
  return (['alert', 'auto'] as const).find(setting => settings.has(setting)) ?? 'ignore'
}

/** Whether the setting of an action's connection or account lets it alert. */
function mayAlert(watched: LookedConnection, connection: ConnectionWithAccounts): (action: SeenAction) => boolean {
  return ({ account }) =>
    permissionToAlert([{ ...watched, out_of_band: outOfBandOf(connection, account) }]).kind === 'alert'
}

function timesOf(seen: readonly SeenAction[]): number[] {
  return seen.map(({ first_seen_at }) => Date.parse(first_seen_at))
}

async function openIncident(
  burst: Parameters<typeof openBurstIncident>[0],
  connection: NamedConnection,
  { stores, publisher }: BurstWatchParts,
): Promise<string> {
  const change = openBurstIncident(burst, namesOf(connection))
  await publisher.publish([await stores.standaloneIncidents.open(change)])
  return change.incident.incident_id
}

/** Looks at open bursts: opens their incident if a process was killed before it did, and ends it when the actions got their verdicts. */
async function checkOpen(parts: BurstWatchParts): Promise<void> {
  const { bursts, connections } = parts.stores
  const due = await bursts.due(parts.clock.now(), MAX_DUE)
  if (due.length === 0) return
  const named = await connections.byIds(due.map(({ _id }) => _id))
  for (const document of due) {
    const connection = named.get(document._id)
    const isMine = await bursts.postpone(document, parts.clock.now() + CHECK_AFTER_MS)
    if (!isMine || document.open === null || connection === undefined) continue
    await checkBurst({ ...document, version: document.version + 1 }, document.open, connection, parts)
  }
}

async function checkBurst(
  document: BurstDocument,
  { at, burst }: NonNullable<BurstDocument['open']>,
  connection: NamedConnection,
  parts: BurstWatchParts,
): Promise<void> {
  const { stores, publisher, clock } = parts
  const { _id: connectionId, project_id: projectId } = document
  const reported = { connectionId, projectId, openedAt: at.getTime(), burst }
  const incidentId = await openIncident(reported, connection, parts)
  const [from, to] = [Date.parse(burst.first_at), Date.parse(burst.last_at)]
  const seen = await stores.bursts.seen(connectionId, from, to, MAX_ACTIONS)
  const outcomes = {
    // Not by its incident, which may be of another code.
    unexplained: seen.filter(({ verdict, look_done }) => look_done !== undefined && verdict !== 'not_alerted').length,
    pending: seen.filter(({ verdict }) => verdict === 'pending').length,
  }
  const now = clock.now()
  const end = judgeBurstEnd(burst, outcomes, now)
  if (end.kind === 'waits') return
  const known = await stores.standaloneIncidents.find(incidentId)
  const change = known === undefined ? undefined : resolveBurstIncident(known, end, namesOf(connection), now)
  if (change !== undefined) {
    const resolved = await stores.standaloneIncidents.replace(change)
    // A person has changed the incident meanwhile: the next look resolves it.
    if (resolved === undefined) return
    await publisher.publish([resolved])
  }
  const attack = { quietUntil: now + QUIET_MS, day: dayNumberOf(from) }
  await stores.bursts.end(document, end.outcome === 'confirmed' ? attack : null)
  parts.logger.info({ connection_id: connectionId, incident_id: incidentId, outcome: end.outcome }, 'burst.ended')
}

/** Stores what this process learned. */
async function storeLearned(learned: LearnedWaits, { stores, clock }: BurstWatchParts): Promise<void> {
  const now = clock.now()
  for (const entry of learned.all()) {
    const part = takeBusiestPart(entry, now - BURST_WINDOW_MS - PART_MS)
    if (part !== undefined) {
      const at = part * PART_MS
      const count = await stores.bursts.countExplained(entry.connectionId, at, at + PART_MS)
      const halfHour = halfHourOf(at)
      entry.busiest[halfHour] = Math.max(entry.busiest[halfHour] ?? 0, count)
    }
    const isOld = now > entry.since + KEEP_MS || entry.day !== dayNumberOf(now)
    const isStored = hasLearned(entry) && (isUnusual(entry) || isOld) && (await store(entry, stores.bursts, now))
    if (isStored || isOld) learned.renew(entry, now)
  }
}

async function store(entry: Unstored, bursts: BurstStore, now: number): Promise<boolean> {
  const { connectionId, projectId } = entry
  const document = (await bursts.byIds([connectionId])).get(connectionId)
  if (document === undefined) await bursts.ensure(connectionId, projectId)
  const expired = Object.keys(document?.days ?? {}).filter(day => Number(day) < dayNumberOf(now) - HISTORY_DAYS)
  return bursts.learn(entry, entry.since, expired)
}
