import type { StormBurst, StormDocument, StormMemberDocument, TimedOutboxEntry } from '@backstop/contracts'
import type { OutboxSource, PendingOutbox } from '@backstop/kit/outbox'
import type { RecordedMembers } from './rules/assign-members.ts'
import type { MemberChange } from './rules/storm-member.ts'
import type { ReportedAction } from './rules/storm-report.ts'
import type { CountedMember } from './rules/storm-totals.ts'

/** Which recorded members decide about new ones. */
export interface MemberQuery {
  readonly incidentIds: readonly string[]
  /** Members of a scope without a storm whose incidents were opened in this time. */
  readonly near: readonly { readonly scope: string; readonly fromMs: number; readonly toMs: number }[]
}

/** Members of one batch that belong to one storm. */
export interface StormJoin {
  readonly stormId: string
  readonly scope: string
  readonly incidentIds: readonly string[]
  /** When the last of these members was recorded. */
  readonly recordedAtMs: number
}

/** The report of a storm, or its end. */
export interface StormReportWrite {
  /** Null if there is nothing to report, because no member is stored any more. */
  readonly entry: TimedOutboxEntry | null
  /** Number of incidents in the report. */
  readonly incidents: number
  /** Number of actions in the report whose incidents were all resolved. */
  readonly resolved: number
  /** Number of actions in the report with an open incident that nobody acknowledged. */
  readonly unacknowledged: number
  readonly atMs: number
  /** When to look at the storm again; null ends the storm, if it has not ended yet. */
  readonly nextLookAtMs: number | null
}

/** The only writer of `storms` and `storm_members`. It reads details of actions. */
export interface StormStore {
  read(query: MemberQuery): Promise<RecordedMembers>
  /** Records new members; recorded ones stay as they are. @returns the ids that were recorded already */
  insert(members: readonly StormMemberDocument[]): Promise<ReadonlySet<string>>
  /** Changes members whose incidents were acknowledged, resolved or opened again. Unknown incidents are ignored. */
  change(changes: readonly MemberChange[]): Promise<void>
  /**
   * Makes storms due that have ended, because members of them were resolved. An open storm does not end with totals that were read before.
   */
  lookAgain(stormIds: readonly string[], atMs: number): Promise<void>
  /** Makes storms due, open or ended, because incidents of their members were acknowledged. A report that is under way is refused. */
  noteAcknowledged(stormIds: readonly string[], atMs: number): Promise<void>

  /** Records that members joined storms that are open. A repeat is harmless. @returns true if all these storms are open */
  touch(joins: readonly StormJoin[]): Promise<boolean>
  find(stormId: string): Promise<StormDocument | undefined>
  openStormOf(scope: string): Promise<string | undefined>
  /** Adds the scope's members without a storm that were opened in this time. */
  adopt(stormId: string, near: MemberQuery['near'][number]): Promise<void>
  /** Stores a new storm. Does nothing if it exists, or if its scope has another open storm. */
  open(storm: StormDocument): Promise<void>
  /** Records that a burst continues in a storm. Does nothing if the storm has it. */
  addBurst(stormId: string, burst: StormBurst): Promise<void>
  /** Removes an open storm that was never reported, unless it changed since it was read. Call it for a storm without members. */
  remove(storm: StormDocument): Promise<void>
  /** Continues a storm that has ended. Does nothing if it is open, or if its scope has another open storm. */
  reopen(stormId: string, atMs: number): Promise<void>
  /** Moves members to another storm of their scope. @param incidentIds all members of the storm if null */
  move(scope: string, from: string, to: string, incidentIds: readonly string[] | null): Promise<void>
  /** Counts the incidents of the storm. */
  countMembers(storm: Pick<StormDocument, '_id' | 'connection_id'>): Promise<number>

  /** The storms whose next look is due: open ones, and ended ones of which members were resolved. */
  due(nowMs: number, limit: number): Promise<readonly StormDocument[]>
  /**
   * Passes each member of the storm to `visit`, without holding all of them in memory. The incidents of one action follow each other, the
   * oldest first.
   */
  visitMembers(
    storm: Pick<StormDocument, '_id' | 'connection_id'>,
    visit: (member: CountedMember) => void,
  ): Promise<void>
  /** The details of actions by id; without those that are not stored any more. */
  actionsOf(actionIds: readonly string[]): Promise<ReadonlyMap<string, ReportedAction>>
  /** Changes when to look at the storm again, unless it was reported or incidents were acknowledged since it was read. */
  postpone(storm: StormDocument, untilMs: number): Promise<void>
  /** Looks at an ended storm no more, unless it changed since it was read. */
  forget(storm: StormDocument): Promise<void>
  /**
   * Records the next report and stores its message. Of several processes that report the same storm, one succeeds. A
   * report is refused if a member was acknowledged since the storm was read, the end also if a member joined or was resolved.
   * @returns the storm's outbox; undefined if the write was refused
   */
  report(storm: StormDocument, report: StormReportWrite): Promise<PendingOutbox | undefined>
  readonly outbox: OutboxSource
}
