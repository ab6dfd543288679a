import type {
  DryRunBasis,
  DryRunProgress,
  DryRunSummary,
  InboxDocument,
  OutOfBand,
  VerdictDifference,
} from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { ActionRecord, Case } from '@backstop/verdict'
import { type Reading, readItem } from '../batch/work-item.ts'
import { type ComparedAction, differenceOf, pairActions } from './compare.ts'
import { eventItem, type History, historyOf, type StoredEvent } from './history.ts'
import { type LoadedGroup, loadGroups, type ReplayGroup, refsOfAnchors } from './load.ts'
import type { PagePosition, ReplaySource, Window } from './source.ts'
import { DryRunTally } from './tally.ts'
import { type ReplayResult, runHistory } from './virtual-run.ts'

export interface DryRunOptions {
  readonly source: ReplaySource
  readonly window: Window
  /** Milliseconds from the first record of an action to its second look. */
  readonly recheckDelayMs: number
  /** Replaces the current setting of the window's connections. */
  readonly outOfBand?: OutOfBand | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Called with each difference as it is found. The dry run itself does not keep them. */
  readonly onDifference: (difference: VerdictDifference) => void
  /** Called after each page. */
  readonly onProgress?: (progress: DryRunProgress) => void
}

/** An event that is relevant by today's rules, and the references that lead to its case. */
interface RelevantEvent {
  readonly event: StoredEvent
  readonly refs: readonly string[]
}

/** Cases that are in memory at the same time. */
const PAGE = 200
/** A look that was due within this time may still be in progress, so its verdict is not compared. */
const IN_PROGRESS_MS = 10 * 60_000

/**
 * Replays the events of a window with today's rules and settings, or changed ones, and reports the verdicts that differ
 * from the stored ones. Each case is replayed as a whole, including events before and after the window. Its verdicts
 * are compared for actions that were first seen in the window or have an event in it. Writes nothing.
 * @throws AppError `unavailable` if the database is unavailable
 */
export function dryRun(options: DryRunOptions): Promise<DryRunSummary> {
  return new DryRun(options).run()
}

class DryRun {
  readonly #options: DryRunOptions
  readonly #tally = new DryRunTally()
  /** Ids of actions whose difference was reported, because a second event may lead to the same case. */
  readonly #reported = new Set<string>()

  constructor(options: DryRunOptions) {
    this.#options = options
  }

  async run(): Promise<DryRunSummary> {
    await this.#forEachPage('actions', (window, after) => this.#pageOfActions(window, after))
    await this.#forEachPage('events', (window, after) => this.#pageOfEvents(window, after))
    return this.#tally.summary()
  }

  /** @param page handles one page and returns where it ended; undefined if there are no more entries */
  async #forEachPage(
    walking: DryRunProgress['walking'],
    page: (window: Window, after: PagePosition | undefined) => Promise<PagePosition | undefined>,
  ): Promise<void> {
    const { window, onProgress } = this.#options
    for (let after = await page(window, undefined); after !== undefined; after = await page(window, after)) {
      const { compared, different } = this.#tally.summary().actions
      onProgress?.({ walking, at: after.at, compared, different })
    }
  }

  async #pageOfActions(window: Window, after: PagePosition | undefined): Promise<PagePosition | undefined> {
    const { source } = this.#options
    const anchors = await source.actions(window, after, PAGE)
    const last = anchors.at(-1)
    if (last === undefined) return undefined
    const ids = new Set(anchors.map(({ _id }) => _id))
    const cases = await source.cases(await refsOfAnchors(anchors, source))
    // A case with several actions in the window is replayed once, with the page that has the first of them.
    const mine = cases.filter(theCase => ids.has(this.#firstSeenInWindow(theCase)?.id ?? ''))
    for (const group of await loadGroups(mine.map(groupOf), source)) await this.#compare(group)
    return { at: last.first_seen.getTime(), id: last._id }
  }

  async #pageOfEvents(window: Window, after: PagePosition | undefined): Promise<PagePosition | undefined> {
    const { source } = this.#options
    const documents = await source.inbox(window, after, PAGE)
    const last = documents.at(-1)
    if (last === undefined) return undefined
    this.#tally.countEvents(documents.length)
    await this.#compareOlder(documents.filter(({ outcome }) => outcome === 'recorded'))
    await this.#compareUnprocessed(documents.filter(({ outcome }) => outcome === 'ignored' || outcome === 'parked'))
    for (const { outcome } of documents) if (outcome === 'held') this.#tally.countNotReplayed('hint_held')
    return { at: last.received_at.getTime(), id: last._id }
  }

  /** Compares cases that have events in the window, but no action that was first seen in it. */
  async #compareOlder(documents: readonly InboxDocument[]): Promise<void> {
    const { source } = this.#options
    const anchors = await source.actionsById([...new Set(documents.flatMap(({ action_ids }) => action_ids))])
    const older = anchors.filter(
      ({ first_seen, connection_ids }) => !this.#isInWindow(first_seen.getTime(), connection_ids),
    )
    const bare = await this.#readRelevantEvents(documents.filter(({ action_ids }) => action_ids.length === 0))
    const refs = [...(await refsOfAnchors(older, source)), ...bare.flatMap(event => [...event.refs])]
    const cases = await source.cases([...new Set(refs)])
    const untouched = cases.filter(theCase => this.#firstSeenInWindow(theCase) === undefined)
    const ids = new Set(documents.map(({ _id }) => _id))
    for (const group of await loadGroups(untouched.map(groupOf), source)) {
      const first = group.events.find(({ document }) => this.#cameInWindow(document))
      // A case with several events in the window is replayed once, with the page that has the first of them.
      if (first !== undefined && ids.has(first.document._id)) await this.#compare(group)
    }
  }

  /** Reads events again that led to no action, because today's rules may find one. */
  async #compareUnprocessed(documents: readonly InboxDocument[]): Promise<void> {
    const { source } = this.#options
    const telling = await this.#readRelevantEvents(documents)
    const cases = await source.cases([...new Set(telling.flatMap(({ refs }) => [...refs]))])
    for (const group of await loadGroups(joinByRefs(telling, cases), source)) await this.#compare(group)
  }

  /** Reads events by today's rules, and counts those that are irrelevant. */
  async #readRelevantEvents(documents: readonly InboxDocument[]): Promise<RelevantEvent[]> {
    const { source, now } = this.#options
    const bodies = await source.bodies(documents.map(({ _id }) => _id))
    const connections = await source.connections([...new Set(documents.map(({ connection_id }) => connection_id))])
    return documents.flatMap(document => {
      const event = { document, body: bodies.get(document._id) ?? null }
      const reading = event.body === null ? 'body_gone' : readEvent(event, connections, now())
      if (reading === 'body_gone' || reading === 'refused') this.#tally.countNotReplayed(reading)
      else if (reading.outcome?.outcome === 'hinted') this.#tally.countNotReplayed('hint_now')
      else if (reading.caseInputs.length > 0)
        return [{ event, refs: reading.caseInputs.flatMap(caseInput => [...caseInput.refs]) }]
      else this.#tally.countStillIgnored()
      return []
    })
  }

  async #compare(group: LoadedGroup): Promise<void> {
    const until = this.#options.now()
    const replayed = await this.#replay(group, until)
    if (replayed === undefined) return
    const { theCase } = group
    const { basis, cases, refused } = replayed
    for (const _event of refused) this.#tally.countNotReplayed('refused')
    const projectId = theCase?.projectId ?? cases[0]?.projectId ?? ''
    for (const pair of pairActions(theCase, cases)) {
      if (!this.#isInScope(pair, group)) continue
      if (isInProgress(pair, until)) this.#tally.countUndecided()
      else this.#report(pair, differenceOf(pair, projectId, basis), basis, group)
    }
  }

  /** @returns undefined if the rules fail on the case; the failure is counted and the other cases are replayed */
  async #replay(
    { theCase, events, surroundings }: LoadedGroup,
    until: number,
  ): Promise<(ReplayResult & Pick<History, 'basis'>) | undefined> {
    const rules = { recheckDelayMs: this.#options.recheckDelayMs, outOfBandOf: this.#outOfBandOf }
    try {
      const history = historyOf(theCase, events)
      return { ...(await runHistory(history, surroundings, rules, until)), basis: history.basis }
    } catch (error) {
      this.#tally.countFailed(theCase?.id ?? events[0]?.document._id ?? '', error)
      return undefined
    }
  }

  #report(
    pair: ComparedAction,
    difference: VerdictDifference | undefined,
    basis: DryRunBasis,
    { more }: LoadedGroup,
  ): void {
    const isAgain = difference !== undefined && this.#reported.has(difference.action_id)
    // The pass over the actions has counted the case already, so only a new difference is counted.
    if (isAgain || (more.length > 0 && difference === undefined)) return
    this.#tally.countCompared(pair, basis, difference)
    if (difference === undefined) return
    this.#reported.add(difference.action_id)
    this.#options.onDifference(difference)
  }

  readonly #outOfBandOf = (connection: { _id: string; project_id: string }): OutOfBand | undefined => {
    const { outOfBand, window } = this.#options
    const isOutside =
      (window.projectId ?? connection.project_id) !== connection.project_id ||
      (window.connectionId ?? connection._id) !== connection._id
    return isOutside ? undefined : outOfBand
  }

  #isInScope({ stored, now }: ComparedAction, { events }: LoadedGroup): boolean {
    const action = stored ?? now
    if (action === undefined) return false
    const connectionIds = action.seenThrough.map(({ id }) => id)
    if (this.#isInWindow(action.firstSeenAt, connectionIds)) return true
    return events.some(({ document }) => this.#cameInWindow(document) && action.eventIds.includes(document.event_id))
  }

  /** The earliest of the case's actions that were first seen in the window. */
  #firstSeenInWindow(theCase: Case): ActionRecord | undefined {
    return theCase.actions
      .filter(({ firstSeenAt, seenThrough }) =>
        this.#isInWindow(
          firstSeenAt,
          seenThrough.map(({ id }) => id),
        ),
      )
      .toSorted((a, b) => a.firstSeenAt - b.firstSeenAt || (a.id < b.id ? -1 : 1))[0]
  }

  #isInWindow(at: number, connectionIds: readonly string[]): boolean {
    const { from, to, connectionId } = this.#options.window
    return from <= at && at < to && (connectionId === undefined || connectionIds.includes(connectionId))
  }

  #cameInWindow({ received_at, connection_id }: InboxDocument): boolean {
    return this.#isInWindow(received_at.getTime(), [connection_id])
  }
}

function groupOf(theCase: Case): ReplayGroup {
  return { theCase, refs: theCase.refs, more: [] }
}

function readEvent(event: StoredEvent, connections: Parameters<typeof readItem>[1], now: number): Reading | 'refused' {
  try {
    return readItem(eventItem(event), connections, now)
  } catch (error) {
    if (error instanceof AppError && error.code === 'message_invalid') return 'refused'
    throw error
  }
}

/** Events that share a reference, or lead to the same case, are replayed together. */
function joinByRefs(telling: readonly RelevantEvent[], cases: readonly Case[]): ReplayGroup[] {
  let groups: ReplayGroup[] = cases.map(groupOf)
  for (const { event, refs } of telling) {
    const isSame = (group: ReplayGroup) => group.refs.some(ref => refs.includes(ref))
    const same = groups.filter(isSame)
    const joined: ReplayGroup = {
      theCase: same.find(({ theCase }) => theCase !== undefined)?.theCase,
      refs: [...new Set([...same.flatMap(group => [...group.refs]), ...refs])],
      more: [...same.flatMap(group => [...group.more]), event],
    }
    groups = [...groups.filter(group => !same.includes(group)), joined]
  }
  return groups
}

/** True if the stored verdict is still pending, or may have been given during this replay. */
function isInProgress({ stored }: ComparedAction, until: number): boolean {
  if (stored === undefined || stored.verdict !== 'pending') return false
  return stored.look === null || (stored.look.askedAt === null && stored.look.dueAt > until - IN_PROGRESS_MS)
}
