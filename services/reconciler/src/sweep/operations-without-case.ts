import { isoTime, type Operation } from '@backstop/contracts'
import { type Clock, createPeriodic, isRetryable, type Logger, type Periodic } from '@backstop/kit'
import type { ChangePosition, Ledger } from '@backstop/ledger'
import type { WorkItem } from '../batch/work-item.ts'
import type { CaseStore, OperationSearchStore } from '../store/store.ts'

const SEARCH_EVERY_MS = 15_000
/** Longer than a page takes. If two processes search at once, the second one finds the cases of the first. */
const LEASE_MS = 60_000
/**
 * How long an operation must be completed before it is compared. In this time the event of nearly every operation arrives and
 * makes its case, and every write with an earlier time becomes visible.
 */
const COMPLETED_FOR_MS = 120_000
/** How far back the first search of an installation begins: an earlier version made a case for every operation. */
const FIRST_SEARCH_MS = 3_600_000
const PAGE = 500
/** The part of the time that searches take, so that events which catch up after an outage come first. */
const MAX_SHARE = 0.2

export interface OperationsWithoutCaseParts {
  readonly cases: Pick<CaseStore, 'knownRefs'>
  readonly search: OperationSearchStore
  readonly ledger: Pick<Ledger, 'completedAfter'>
  readonly reconcile: (items: readonly WorkItem[]) => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Makes a case for each completed operation whose payment or subscription has none, because no event of it has arrived. The case checks
 * after some minutes whether the provider knows the refund or cancellation (decision/operation-looks.ts).
 */
export function createOperationsWithoutCase(parts: OperationsWithoutCaseParts): Periodic {
  return createPeriodic({
    clock: parts.clock,
    pauseMs: SEARCH_EVERY_MS,
    maxShare: MAX_SHARE,
    run: isStopping => searchCompleted(parts, isStopping),
    onFailure: error => parts.logger.warn({ error }, 'operations.search_failed'),
  })
}

async function searchCompleted(parts: OperationsWithoutCaseParts, isStopping: () => boolean): Promise<void> {
  const { search, clock, ledger } = parts
  const startedAt = clock.now()
  const first = { updated_at: isoTime(startedAt - FIRST_SEARCH_MS), operation_id: '' }
  let position: ChangePosition | undefined = await search.claim(first, startedAt, startedAt + LEASE_MS)
  while (position !== undefined && !isStopping()) {
    const page: Operation[] = await ledger.completedAfter(position, startedAt - COMPLETED_FOR_MS, PAGE)
    const last = page.at(-1)
    const unknown = await withoutCase(page, parts)
    if (unknown.length > 0) await makeCases(unknown, parts)
    const isLast = page.length < PAGE
    // An ended lease is over at once, so that the next search may be that of another process.
    await search.advance(last ?? position, isLast ? startedAt : clock.now() + LEASE_MS)
    position = isLast ? undefined : last
  }
}

/**
 * Makes the cases of a page together, or one by one if that fails, so that one operation does not stop the search.
 * @throws AppError that can be retried, because every operation would fail
 */
async function makeCases(
  operations: readonly Operation[],
  parts: Pick<OperationsWithoutCaseParts, 'reconcile' | 'logger'>,
): Promise<void> {
  const { reconcile, logger } = parts
  try {
    await reconcile(operations.map(operation => ({ kind: 'operation_without_case', operation })))
    logger.info({ operations: operations.length }, 'operations.without_case')
  } catch (error) {
    const [only] = operations
    if (operations.length > 1) {
      for (const operation of operations) await makeCases([operation], parts)
    } else if (isRetryable(error)) throw error
    else logger.error({ error, operation_id: only?.operation_id }, 'operations.case_failed')
  }
}

/** The operations none of whose references belongs to a case. One that skipped its approval explains nothing and needs no check. */
async function withoutCase(
  operations: readonly Operation[],
  { cases }: OperationsWithoutCaseParts,
): Promise<readonly Operation[]> {
  const known = await cases.knownRefs(operations.flatMap(({ refs }) => refs))
  return operations.filter(({ refs, unapproved }) => unapproved == null && !refs.some(ref => known.has(ref)))
}
