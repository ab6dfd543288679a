import type { SweepDocument, SweepInterruption } from '@backstop/contracts'

/** A shorter time without a complete sweep is a slow provider, and no interruption. */
const INTERRUPTED_AFTER_MS = 15 * 60_000

/** What one run adds to the record of its day. */
export interface SweepRun {
  readonly connectionId: string
  readonly projectId: string
  /** Nothing is recorded about sweeps before this time. */
  readonly recordedFrom: Date
  readonly endedAt: Date
  /** Number of listed objects. */
  readonly objects: number
  /** Every change up to this time was read; null if the run did not reach the present. */
  readonly readUntil: Date | null
  /** The time without a complete sweep that this run ended; null if it was short. */
  readonly interruption: SweepInterruption | null
}

/**
 * What a run that read something adds to the record of its day; null for a run before the first complete one that this version knows, because
 * a record claims that nothing older is missing.
 * @param sweep as it was before the run
 * @param run `readUntilMs` is null if the run did not reach the present
 * @param madeAt when the connection was created: its first sweep reads the changes since then
 */
export function sweepRunOf(
  sweep: Pick<SweepDocument, '_id' | 'project_id' | 'completed_at' | 'last_error'>,
  run: { readonly objects: number; readonly readUntilMs: number | null },
  madeAt: Date,
  nowMs: number,
  everyMs: number,
): SweepRun | null {
  const endedAt = new Date(nowMs)
  // Absent in a document of an earlier version: nobody knows when its last sweep ended.
  const before = sweep.completed_at === undefined ? endedAt : (sweep.completed_at ?? madeAt)
  const isLate = nowMs - before.getTime() >= Math.max(INTERRUPTED_AFTER_MS, 3 * everyMs)
  const isComplete = run.readUntilMs !== null
  if (!isComplete && sweep.completed_at === undefined) return null
  return {
    connectionId: sweep._id,
    projectId: sweep.project_id,
    recordedFrom: before,
    endedAt,
    objects: run.objects,
    readUntil: run.readUntilMs === null ? null : new Date(run.readUntilMs),
    interruption: isComplete && isLate ? { from: before, to: endedAt, cause: sweep.last_error } : null,
  }
}
