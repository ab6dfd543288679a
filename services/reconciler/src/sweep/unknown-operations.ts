import { isoTime, type Operation } from '@backstop/contracts'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import { isRetryable } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import type { Ledger } from '@backstop/ledger'
import { versionName } from '@backstop/verdict'
import type { WorkItem } from '../batch/work-item.ts'
import type { CaseStore, KnownOperations } from '../cases/case-store.ts'
import type { OperationSearchStore } from './operation-search-store.ts'

/** With a short interval each search handles few operations, so it barely delays events. */
const SEARCH_EVERY_MS = 5_000
/** Longer than a page takes. If two processes search at once, the second one finds the cases of the first. */
const LEASE_MS = 60_000
/**
 * How long an operation must be unchanged before it is compared. In this time the event of nearly every operation arrives and
 * makes its case, and every write with an earlier time becomes visible.
 */
const UNCHANGED_FOR_MS = 120_000
/** How far back the first search of an installation begins: an earlier version made a case for every operation. */
const FIRST_SEARCH_MS = 3_600_000
const PAGE = 200
/** How long one run may take, and the part of the time that runs take, so that events which catch up after an outage come first. */
const MAX_RUN_MS = 1_000
const MAX_SHARE = 0.2

export interface UnknownOperationsParts {
  readonly cases: Pick<CaseStore, 'knownOperations'>
  readonly search: OperationSearchStore
  readonly ledger: Pick<Ledger, 'changedAfter'>
  readonly reconcile: (items: readonly WorkItem[]) => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Compares operations with the cases, two minutes after their last change (docs/adr/0016-an-operation-makes-no-case.md).
 * A completed operation whose payment or subscription has no case, because no event of it has arrived, gets one. It checks after some
 * minutes whether the provider knows the refund or cancellation (decision/operation-looks.ts). A case that does not know the present version
 * of an operation gets it. Usually its message came while the case was decided, and found no case.
 */
export function createUnknownOperations(parts: UnknownOperationsParts): Periodic {
  return createPeriodic({
    clock: parts.clock,
    pauseMs: SEARCH_EVERY_MS,
    maxShare: MAX_SHARE,
    run: isStopping => searchChanged(parts, isStopping),
    onFailure: error => parts.logger.warn({ error }, 'operations.search_failed'),
  })
}

async function searchChanged(parts: UnknownOperationsParts, isStopping: () => boolean): Promise<void> {
  const { search, clock, ledger } = parts
  const startedAt = clock.now()
  const first = { updated_at: isoTime(startedAt - FIRST_SEARCH_MS), operation_id: '' }
  const claimed = await search.claim(first, startedAt, startedAt + LEASE_MS)
  if (claimed === undefined) return
  let { position, wasInterrupted } = claimed
  for (let isEnded = false; !isEnded; ) {
    const page = await ledger.changedAfter(position, startedAt - UNCHANGED_FOR_MS, PAGE)
    const known = await parts.cases.knownOperations(page.flatMap(({ refs }) => refs))
    // A case that an interrupted search has changed knows the operation, but its actions may not be listed yet.
    const toApply = operationsToApply(page, known, wasInterrupted ? 'again' : 'unknown')
    if (toApply.length > 0) await apply(toApply, parts)
    wasInterrupted = false
    position = page.at(-1) ?? position
    isEnded = page.length < PAGE || isStopping() || clock.now() - startedAt > MAX_RUN_MS
    await search.advance(position, isEnded ? null : clock.now() + LEASE_MS)
  }
}

/**
 * Applies the operations of a page together, or one by one if that fails, so that one operation does not stop the search.
 * @throws AppError that can be retried; then the page is searched again after the lease
 */
async function apply(
  items: readonly OperationItem[],
  parts: Pick<UnknownOperationsParts, 'reconcile' | 'logger'>,
): Promise<void> {
  const { reconcile, logger } = parts
  try {
    await reconcile(items)
    logger.info({ operations: items.length }, 'operations.applied')
  } catch (error) {
    const [only] = items
    if (items.length > 1) {
      for (const item of items) await apply([item], parts)
    } else if (isRetryable(error)) throw error
    else logger.error({ error, operation_id: only?.operation.operation_id }, 'operations.case_failed')
  }
}

type OperationItem = Extract<WorkItem, { readonly kind: 'operation' }>

/**
 * The operations as work items that change or make their case.
 * @param which only those that no case knows in this version, or also those that were perhaps applied in part
 */
function operationsToApply(
  operations: readonly Operation[],
  cases: readonly KnownOperations[],
  which: 'unknown' | 'again',
): readonly OperationItem[] {
  const known = new Set(which === 'again' ? [] : cases.flatMap(theCase => theCase.operations))
  const refs = new Set(cases.flatMap(theCase => theCase.refs))
  return operations.flatMap((operation): OperationItem[] => {
    if (known.has(versionName(operation))) return []
    if (operation.refs.some(ref => refs.has(ref))) return [{ kind: 'operation', operation }]
    // An operation that skipped its approval explains nothing and needs no check.
    const needsCheck = operation.state === 'completed' && operation.unapproved == null
    return needsCheck ? [{ kind: 'operation', operation, mayCreate: true }] : []
  })
}
