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
import { runAlertEntry } from './rules/announcements.ts'
import { CLOCK_SKEW_MS } from './rules/operation.ts'

/**
 * Records failed runs of the customer's software. Operations name their run by `run_id`. All calls throw AppError
 * `unavailable` if the store is unavailable.
 */
export interface Runs extends Pick<RunStore, 'list' | 'projectsOf'> {
  /**
   * Records that a run failed, and alerts once. A repeated report returns the stored failure.
   * @throws LedgerRefusal `invalid_request` for a time in the future
   */
  fail(
    run: RunName,
    report: Pick<RunFailure, 'reason' | 'failed_at'>,
    now: number,
  ): Promise<{ run: FailedRun; outcome: 'created' | 'unchanged' }>
  /** Returns the failure of a run; undefined if none was reported. */
  get(run: RunName): Promise<FailedRun | undefined>
}

/** The name of a run. Reporters choose the run_id, so it is unique in one project only. */
export interface RunName {
  readonly projectId: string
  readonly runId: string
}

/** The failed runs to list. */
interface RunFilter {
  readonly projectId?: string | undefined
  /** Continue after this run. */
  readonly after?: { readonly at: Date; readonly id: string } | undefined
  readonly limit: number
}

/** The store of failed runs, as a narrow port. */
export interface RunStore {
  /** @returns false if the run is already stored */
  insert(id: string, run: FailedRun, entry: OutboxEntry): Promise<boolean>
  load(id: string): Promise<FailedRun | undefined>
  /** Returns failed runs, newest first by `reported_at`. */
  list(filter: RunFilter): Promise<FailedRun[]>
  /** Returns the projects with an operation or a failure of the run. */
  projectsOf(runId: string): Promise<string[]>
  /** Returns the newest operations of a run, and their total number. */
  operationsOf(run: RunName, limit: number): Promise<{ newest: Operation[]; total: number }>
}

/** The limit of operations in one alert. The API lists all of them. */
const MAX_OPERATIONS_IN_ALERT = 50

/** The id of a run's failure in the database. Cursors of lists contain it. */
export function runDocumentId({ projectId, runId }: RunName): string {
  return deterministicId('run', projectId, encodeURIComponent(runId.toWellFormed()))
}

/** Creates the record of failed runs over a store. */
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
      const { newest, total } = await store.operationsOf(name, MAX_OPERATIONS_IN_ALERT)
      const entry = runAlertEntry(id, run, newest, total)
      if (await store.insert(id, run, entry)) {
        options.announce({ documentId: id, entries: [entry] })
        return { run, outcome: 'created' }
      }
      return { run: (await store.load(id)) ?? run, outcome: 'unchanged' }
    },
    get: name => store.load(runDocumentId(name)),
    list: filter => store.list(filter),
    projectsOf: runId => store.projectsOf(runId),
  }
}
