import type { InboxReplayDocument, InboxSelection } from '@backstop/contracts'
import type { InboxEntry } from './store.ts'

/** The only writer of `inbox_replays`. */
export interface InboxReplayStore {
  /** Counts the entries of the inbox that are selected. */
  count(projectId: string, selection: InboxSelection): Promise<number>
  /** @returns true if the replay is new; an existing replay is unchanged */
  begin(replay: InboxReplayDocument): Promise<boolean>
  /**
   * Claims a running replay whose next page is due, and sets the next due time to `untilMs`, so that no other process
   * claims it meanwhile.
   */
  claim(nowMs: number, untilMs: number): Promise<InboxReplayDocument | undefined>
  /** The next selected entries after the replay's cursor, oldest first. The body is null if it is not kept any more. */
  page(replay: InboxReplayDocument, limit: number): Promise<InboxEntry[]>
  /** Records the progress of a replay, unless its cursor has changed since it was read. */
  advance(replay: InboxReplayDocument, progress: InboxReplayProgress): Promise<void>
}

export type InboxReplayProgress = Pick<
  InboxReplayDocument,
  'state' | 'replayed' | 'skipped_erased' | 'skipped_objects' | 'cursor' | 'next_page_at' | 'finished_at'
>
