import {
  deterministicId,
  type FailedRun,
  isoTime,
  type Operation,
  type OutboxEntry,
  type RunFailure,
} from '@backstop/contracts'
import type { LedgerOptions } from './ledger.ts'
import { LedgerRefusal } from './refusal.ts'
import { runEntry } from './rules/announcements.ts'
import { CLOCK_SKEW_MS } from './rules/operation.ts'

/** Runs of the execution feature: what operations name by `run_id`. All calls throw AppError `unavailable`. */
export interface Runs {
  /**
   * Records that a run failed, and tells people once. Reporting it again answers what is stored.
   * @throws AppError `invalid_request` when it is to have failed in the future
   */
  fail(
    run: RunName,
    report: Pick<RunFailure, 'reason' | 'failed_at'>,
    now: number,
  ): Promise<{ run: FailedRun; outcome: 'created' | 'unchanged' }>
  /** The failure of a run; undefined while nobody reported one. */
  get(run: RunName): Promise<FailedRun | undefined>
  /** Newest first by `reported_at`. */
  list(filter: RunFilter): Promise<FailedRun[]>
  /** The projects in which an operation or a failure names the run. */
  projectsOf(runId: string): Promise<string[]>
}

/** A run_id is the reporter's own, and good within one project. */
export interface RunName {
  readonly projectId: string
  readonly runId: string
}

export interface RunFilter {
  readonly projectId?: string | undefined
  /** Continue after this one. */
  readonly after?: { readonly at: Date; readonly id: string } | undefined
  readonly limit: number
}

/** What is kept of runs, as a narrow port. */
export interface RunStore {
  /** @returns false when the run is there already */
  insert(id: string, run: FailedRun, entry: OutboxEntry): Promise<boolean>
  load(id: string): Promise<FailedRun | undefined>
  list(filter: RunFilter): Promise<FailedRun[]>
  projectsOf(runId: string): Promise<string[]>
  /** The newest operations of a run, and how many it has. */
  operationsOf(run: RunName, limit: number): Promise<{ newest: Operation[]; total: number }>
}

/** More would be a message that nobody reads, and the API lists them all. */
const MOST_TOLD = 50

/** The id under which the failure of a run is stored: lists go on by it. */
export function runDocumentId({ projectId, runId }: RunName): string {
  return deterministicId('run', projectId, encodeURIComponent(runId.toWellFormed()))
}

/** Runs over a store. */
export function createRuns(store: RunStore, options: LedgerOptions): Runs {
  return {
    async fail(name, report, now) {
      const id = runDocumentId(name)
      const failedAt = report.failed_at == null ? now : Date.parse(report.failed_at)
      if (failedAt > now + CLOCK_SKEW_MS) {
        throw new LedgerRefusal({ kind: 'time', field: 'failed_at', reason: 'lies_in_the_future' })
      }
      const run: FailedRun = {
        run_id: name.runId,
        project_id: name.projectId,
        reason: report.reason ?? null,
        failed_at: isoTime(failedAt),
        reported_at: isoTime(now),
      }
      const { newest, total } = await store.operationsOf(name, MOST_TOLD)
      const entry = runEntry(id, run, newest, total)
      if (await store.insert(id, run, entry)) {
        await options.announce({ documentId: id, entries: [entry] })
        return { run, outcome: 'created' }
      }
      return { run: (await store.load(id)) ?? run, outcome: 'unchanged' }
    },
    get: name => store.load(runDocumentId(name)),
    list: filter => store.list(filter),
    projectsOf: runId => store.projectsOf(runId),
  }
}
