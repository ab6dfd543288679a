import { setImmediate } from 'node:timers/promises'
import { type Action, type InboxBodyDocument, isHeartbeatProject, type Readback } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import type { Clock } from '@backstop/kit/clock'
import { lostRace } from '@backstop/kit/errors'
import type { OutboxPublisher } from '@backstop/kit/outbox'
import type { MessageCodec } from '@backstop/kit/registry'
import {
  type ActionRecord,
  endedWaits,
  type ProjectedAction,
  projectActions,
  projectIncidents,
  type Rules,
} from '@backstop/verdict'
import type { ActorDirectory } from '../actors/actor-directory.ts'
import type { CaseStore } from '../cases/case-store.ts'
import type { Inbox, InboxEntry } from '../inbox/inbox-store.ts'
import { rereadMessage } from '../reading/held-hints.ts'
import { touchedDays } from '../totals/rules/touched-days.ts'
import type { TotalsStore } from '../totals/totals-store.ts'
import { claimUses, type RefusedClaims, releaseUses } from './claim-expected-changes.ts'
import type { ExpectedChangeUsesStore } from './expected-change-store.ts'
import { type FactSources, loadRound } from './load-facts.ts'
import type { ProjectionStore } from './projection-store.ts'
import { deadLetterUnusable, type UnusableObject } from './unusable-objects.ts'
import { type EventItem, effectsOf, type ItemEffects, type WorkItem } from './work-item.ts'
import { type CaseResult, Workspace } from './workspace.ts'

export interface ReconcileParts extends FactSources {
  readonly stores: FactSources['stores'] & {
    readonly cases: Pick<CaseStore, 'save'>
    readonly expectedChangeUses: ExpectedChangeUsesStore
    readonly projections: ProjectionStore
    readonly inbox: Pick<Inbox, 'done' | 'known' | 'keepBodies' | 'insert' | 'decideAgain' | 'hold' | 'eraseBodiesOf'>
    readonly totals: Pick<TotalsStore, 'mark'>
    readonly actors: ActorDirectory
    readonly sweeps: {
      wake(connection: { id: string; projectId: string }, now: number, unverifiedSince: number | null): Promise<void>
    }
  }
  readonly publisher: OutboxPublisher
  /** Sends the re-reads that hints need. */
  readonly producer: Producer
  readonly codec: Pick<MessageCodec, 'encode'>
  readonly clock: Clock
  readonly rules: Rules
}

/** The result of a batch, for the log and the metrics. */
export interface BatchReport {
  /** Actions whose verdict this batch gave or changed. */
  readonly decided: readonly Action[]
  /** The span of each decided action, by its id. Empty if traces are off. */
  readonly traceparents: ReadonlyMap<string, string>
  /** Actions that waited for a verdict, and got it from this batch. */
  readonly waited: readonly Pick<ActionRecord, 'provider' | 'firstSeenAt'>[]
  readonly published: number
  readonly ignored: number
  readonly duplicates: number
  /** Objects of providers' answers that were dead-lettered, because they cannot be used. */
  readonly unusable: readonly UnusableObject[]
  readonly conflicts: number
}

/** Attempts to decide a case that other processes write too, before the batch is deferred. */
const MAX_ROUNDS = 10

interface ItemWithEffects {
  readonly item: WorkItem
  readonly effects: ItemEffects
}

/**
 * Reconciles one batch: load → decide → save → project → publish → mark as done. The caller acknowledges. A crash
 * between any two steps is safe: a repeated decision changes nothing, every message has a deterministic id, and the
 * inbox mark is written last (docs/architecture.md).
 */
export async function reconcileBatch(items: readonly WorkItem[], parts: ReconcileParts): Promise<BatchReport> {
  const { stores } = parts
  const inboxIds = items.flatMap(item => (item.kind === 'event' && item.replayId === undefined ? [item.inboxId] : []))
  const [all, done] = await Promise.all([withEffects(items, parts), stores.inbox.done(inboxIds)])
  const isDone = ({ item }: ItemWithEffects) =>
    item.kind === 'event' && item.replayId === undefined && done.has(item.inboxId)

  const open = all.filter(entry => !isDone(entry))
  const withInputs = all.filter(entry => entry.effects.caseInputs.length > 0)
  const bodies = bodiesOf(open)
  const [{ results, conflicts }] = await Promise.all([
    decideAndSave(withInputs, isDone, parts),
    stores.inbox.keepBodies([...bodies.values()]),
  ])

  // Heartbeats are decided and alert like every action, but are neither listed nor counted.
  const shown = results.filter(({ theCase }) => !isHeartbeatProject(theCase.projectId))
  const actions = shown.flatMap(({ theCase, before, listing }) => projectActions(theCase, before, listing))
  const incidents = shown.flatMap(({ theCase, before, listing }) => projectIncidents(theCase, before, listing))
  // Actions last: an expected change that is applied again finds its cases by actions that are not listed as covered.
  await stores.projections.saveIncidents(incidents)
  await stores.projections.saveActions(actions, parts.clock.now())

  const outboxes = results.map(({ theCase }) => ({ documentId: theCase.id, entries: theCase.outbox }))
  // One write for the whole batch; a timer counts the days later.
  const listed = shown.map(({ theCase, listing }) => ({ projectId: theCase.projectId, listing }))
  await Promise.all([parts.publisher.publish(outboxes), stores.totals.mark(touchedDays(listed), parts.clock.now())])
  await requestRereads(open, parts)
  const unusable = await deadLetterUnusable(
    all.flatMap(({ effects }) => effects.unusable),
    parts,
  )
  const actionIds = idsByInboxId(actions)
  const now = parts.clock.now()
  const entries = open.flatMap(entry => inboxEntry(entry, bodies, actionIds, now))
  const isReplayed = ({ document }: InboxEntry) => document.replay_id !== undefined
  await stores.inbox.insert(entries.filter(entry => !isReplayed(entry)))
  await stores.inbox.decideAgain(entries.filter(isReplayed).map(({ document }) => document))
  // Where the customer of a case was erased, the body of a later event is not kept either. Also of done events: a crash may have come before
  // this step.
  await stores.inbox.eraseBodiesOf(inboxIdsOfErased(all, results))
  await holdUnverifiedHints(items, parts)
  return {
    decided: actions.flatMap(({ action, isDecided }) => (isDecided ? [action] : [])),
    traceparents: traceparentsOf(results),
    waited: shown.flatMap(({ theCase, before }) => endedWaits(theCase, before)),
    published: outboxes.reduce((sum, outbox) => sum + outbox.entries.length, 0),
    ignored: entries.filter(entry => entry.document.outcome === 'ignored').length,
    duplicates: all.filter(isDone).length,
    unusable,
    conflicts,
  }
}

/** Each item with its effects, by the rules of the connection that received it. */
async function withEffects(items: readonly WorkItem[], { stores, clock }: ReconcileParts): Promise<ItemWithEffects[]> {
  const ids = items.flatMap(item => {
    if (item.kind === 'event') return [item.event.connection_id]
    return item.kind === 'readback' ? [item.readback.connection_id] : []
  })
  const connections = await stores.connections.byIds([...new Set(ids)])
  const ruled = [...connections.values()].filter(({ refunded_twice_within_hours: hours }) => hours != null)
  const withRule = await stores.connections.withAccounts(ruled.map(({ _id }) => _id))
  const now = clock.now()
  const projectIds = [...connections.values()].map(({ project_id }) => project_id)
  const context = { connections, withRule, actors: await stores.actors.ofProjects(projectIds, now), now }
  return items.map(item => ({ item, effects: effectsOf(item, context) }))
}

/** Requests the re-reads of hints. It comes before the inbox mark, so that a crash does not lose a re-read. */
async function requestRereads(items: readonly ItemWithEffects[], { producer, codec }: ReconcileParts): Promise<void> {
  const rereads = items.flatMap(({ item, effects }) =>
    effects.reread === null ? [] : [rereadMessage(effects.reread, codec, item.traceparent)],
  )
  if (rereads.length > 0) await producer.send(rereads)
}

function traceparentsOf(results: readonly CaseResult[]): ReadonlyMap<string, string> {
  const byAction = new Map<string, string>()
  for (const { traceparent, listing } of results) {
    if (traceparent === undefined) continue
    for (const { id } of listing.actions) byAction.set(id, traceparent)
  }
  return byAction
}

/**
 * Holds hints whose provider did not answer, and makes the sweep of their connection due now. The sweep asks the
 * provider: if it fails, an incident is opened; if it succeeds, the held hints are requested again.
 */
async function holdUnverifiedHints(items: readonly WorkItem[], { stores, clock }: ReconcileParts): Promise<void> {
  const unanswered = items.flatMap(item => {
    if (item.kind !== 'readback') return []
    const { outcome, provider, event } = item.readback
    const needsData = provider === 'subscription' || event !== null
    return outcome === 'unavailable' && needsData ? [item.readback] : []
  })
  const hints = unanswered.filter(({ event }) => event !== null)
  for (const [reason, group] of Map.groupBy(hints, ({ failure }) => failure ?? 'Not verified')) {
    await stores.inbox.hold(
      group.map(({ connection_id, event }) => `${connection_id}/${event?.event_id}`),
      reason,
    )
  }
  for (const [connectionId, group] of Map.groupBy(unanswered, ({ connection_id }) => connection_id)) {
    const [{ project_id: projectId }] = group as [Readback]
    const times = group.flatMap(({ event, look }) => event?.received_at ?? look?.due_at ?? []).map(Date.parse)
    if (times.length > 0) await stores.sweeps.wake({ id: connectionId, projectId }, clock.now(), Math.min(...times))
  }
}

/** Loads, decides and saves. Cases that another writer changed meanwhile are loaded and decided again. */
async function decideAndSave(
  withInputs: readonly ItemWithEffects[],
  isDone: (entry: ItemWithEffects) => boolean,
  parts: ReconcileParts,
): Promise<{ results: CaseResult[]; conflicts: number }> {
  const saved: CaseResult[] = []
  let conflicts = 0
  let round = withInputs
  let refused: RefusedClaims = new Map()
  for (let count = 1; round.length > 0; count += 1) {
    const decided = await decideRound(round, isDone, refused, parts)
    const { workspace, results, lost } = decided
    refused = decided.refused
    saved.push(...results.filter(({ theCase }) => !lost.has(theCase.id)))
    round = round.filter(({ effects }) =>
      effects.caseInputs.some(caseInput => lost.has(workspace.idOf(caseInput) ?? '')),
    )
    conflicts += lost.size
    if (round.length > 0 && count === MAX_ROUNDS) throw lostRace(`case ${[...lost][0]}`)
  }
  return { results: saved, conflicts }
}

async function decideRound(
  round: readonly ItemWithEffects[],
  isDone: (entry: ItemWithEffects) => boolean,
  refusedBefore: RefusedClaims,
  parts: ReconcileParts,
): Promise<{
  workspace: Workspace
  results: CaseResult[]
  refused: RefusedClaims
  /** Also the refused ones. */
  lost: ReadonlySet<string>
}> {
  const now = Math.max(parts.clock.now(), ...receptionsOf(round))
  const inputsOf = (entries: readonly ItemWithEffects[]) => entries.flatMap(entry => entry.effects.caseInputs)
  // An event that is done changes nothing. Its case is loaded all the same, so that its unpublished outbox entries are
  // sent with this batch.
  const open = inputsOf(round.filter(entry => !isDone(entry)))
  const loaded = await loadRound({ all: inputsOf(round), open, refused: refusedBefore }, parts, now)
  const { canaries } = parts.stores.actors
  const workspace = new Workspace(loaded.cases, { now, recheckDelayMs: parts.rules.recheckDelayMs, canaries })
  await forEachYielding([...loaded.loadedInputs, ...open], caseInput => workspace.apply(caseInput, loaded.facts))
  const results = workspace.results()
  const { cases, expectedChangeUses } = parts.stores
  const refused = await claimUses(results, loaded.uses, expectedChangeUses)
  const granted = results.filter(({ theCase }) => !refused.has(theCase.id))
  const lost = await cases.save(granted.flatMap(({ change }) => change ?? []))
  const saved = granted.filter(({ theCase }) => !lost.has(theCase.id))
  await releaseUses(saved, loaded.uses, expectedChangeUses)
  return { workspace, results, refused, lost: new Set([...lost, ...refused.keys()]) }
}

/**
 * When the looks of a round were received, in milliseconds since the epoch. They were due then, and stay due if the clock was set back
 * since: an early look would be dropped, and the timer for overdue looks asks for it five minutes later.
 */
function receptionsOf(round: readonly ItemWithEffects[]): number[] {
  return round.flatMap(({ item }) => (item.kind === 'recheck' ? (item.receivedAtMs ?? []) : []))
}

/**
 * How long decisions may run before the event loop handles heartbeats, probes and other partitions, in milliseconds.
 */
const YIELD_AFTER_MS = 50

/** Yields to the event loop every `YIELD_AFTER_MS`, because deciding a flood of events on one payment takes seconds. */
async function forEachYielding<T>(list: readonly T[], act: (item: T) => void): Promise<void> {
  let since = performance.now()
  for (const item of list) {
    act(item)
    if (performance.now() - since < YIELD_AFTER_MS) continue
    await setImmediate()
    since = performance.now()
  }
}

/**
 * The ids of the actions of each event, by the event's inbox id. An inbox id includes the connection, because two
 * senders may use the same event id.
 */
function idsByInboxId(actions: readonly ProjectedAction[]): ReadonlyMap<string, string[]> {
  const byInboxId = new Map<string, string[]>()
  for (const { action, mergedInto } of actions) {
    if (mergedInto !== null) continue
    for (const connectionId of action.connection_ids) {
      for (const eventId of action.event_ids) {
        const inboxId = `${connectionId}/${eventId}`
        byInboxId.set(inboxId, [...(byInboxId.get(inboxId) ?? []), action.action_id])
      }
    }
  }
  return byInboxId
}

/** The inbox ids of the events about cases whose customer was erased. */
function inboxIdsOfErased(entries: readonly ItemWithEffects[], results: readonly CaseResult[]): string[] {
  const erased = results.filter(({ theCase }) => theCase.personErasures !== undefined)
  if (erased.length === 0) return []
  const refs = new Set(erased.flatMap(({ theCase }) => theCase.refs))
  return entries.flatMap(({ item, effects }) =>
    item.kind === 'event' && effects.caseInputs.some(caseInput => caseInput.refs.some(ref => refs.has(ref)))
      ? [item.inboxId]
      : [],
  )
}

/** The bodies of the events whose entry will be inserted, by the event's inbox id. */
function bodiesOf(entries: readonly ItemWithEffects[]): ReadonlyMap<string, InboxBodyDocument> {
  const bodies = entries.flatMap(({ item, effects }) => {
    const hasBody = item.kind === 'event' && item.replayId === undefined && effects.outcome !== null
    return hasBody && !effects.isBodyErased ? [bodyOf(item)] : []
  })
  return new Map(bodies.map(body => [body._id, body]))
}

function bodyOf({ inboxId, receivedAt, event }: EventItem): InboxBodyDocument {
  return { _id: inboxId, received_at: new Date(receivedAt), body: JSON.stringify(event.body) }
}

/**
 * The inbox entry of an item; empty if the item is not an event.
 * @param bodies those that are stored already
 */
export function inboxEntry(
  { item, effects }: ItemWithEffects,
  bodies: ReadonlyMap<string, InboxBodyDocument>,
  actionIds: ReadonlyMap<string, string[]>,
  now: number,
): InboxEntry[] {
  if (item.kind !== 'event' || effects.outcome === null) return []
  const { event } = item
  const document: InboxEntry['document'] = {
    _id: item.inboxId,
    project_id: event.project_id,
    connection_id: event.connection_id,
    provider: event.provider,
    event_id: event.event_id,
    event_type: event.event_type,
    ...effects.outcome,
    action_ids: actionIds.get(item.inboxId) ?? [],
    received_at: new Date(item.receivedAt),
    processed_at: new Date(now),
    ...(item.replayId === undefined ? {} : { replay_id: item.replayId }),
  }
  const kept = bodies.get(item.inboxId)
  if (kept !== undefined) return [{ document, body: kept.body, isBodyKept: true }]
  return [{ document, body: effects.isBodyErased ? null : bodyOf(item).body }]
}
