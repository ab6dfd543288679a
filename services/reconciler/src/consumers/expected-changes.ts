import type { ConnectionDocument, ExpectedChangeDocument } from '@backstop/contracts'
import { type Clock, createPeriodic, type Logger, type Periodic } from '@backstop/kit'
import type { OpenAction, OpenPlace, ReconcilerStores } from '../store/store.ts'
import { referenceOfAction } from './action-reference.ts'
import type { WorkItem } from './work-item.ts'

export interface ExpectedChangesOptions {
  readonly stores: Pick<ReconcilerStores, 'expectedChanges' | 'expectedChangeUses' | 'openActions' | 'connections'>
  /** Decides again what the items are about (reconcile-batch.ts). */
  readonly reconcile: (items: readonly WorkItem[]) => Promise<void>
}

/** Lets a new expected change cover changes that people have open incidents about. Doing so again changes nothing. */
export interface ExpectedChanges {
  /** @returns what became of it, for the log */
  apply(expectedChangeId: string): Promise<'applied' | 'nothing_open' | 'used_up' | 'not_there'>
}

/** Open incidents of one page. */
const PAGE = 200

export function createExpectedChanges({ stores, reconcile }: ExpectedChangesOptions): ExpectedChanges {
  return {
    async apply(id) {
      const [change] = await stores.expectedChanges.byIds([id])
      if (change === undefined) return 'not_there'
      let after: OpenPlace | undefined
      let applied = 0
      for (;;) {
        const used = (await stores.expectedChangeUses.load([id])).get(id)?.uses.length ?? 0
        if (used >= change.max_changes) return applied === 0 ? 'used_up' : 'applied'
        const page = await stores.openActions.page(change.project_id, after, PAGE)
        const items = await itemsOf(page, change, stores)
        if (items.length > 0) await reconcile(items)
        applied += items.length
        after = page.at(-1)
        if (after === undefined) return applied === 0 ? 'nothing_open' : 'applied'
      }
    },
  }
}

/** Those that the expected change may cover by what lists show of them; the case decides. */
async function itemsOf(
  page: readonly OpenAction[],
  change: ExpectedChangeDocument,
  { connections }: Pick<ReconcilerStores, 'connections'>,
): Promise<WorkItem[]> {
  const actions = page
    .map(({ action }) => action)
    .filter(
      action =>
        action.kind === change.kind &&
        (change.connection_id === null || action.connection_ids.includes(change.connection_id)) &&
        (change.amount === null || change.amount === action.amount) &&
        (change.currency === null || change.currency === action.currency),
    )
  if (actions.length === 0) return []
  const known: ReadonlyMap<string, ConnectionDocument> = await connections.byIds([
    ...new Set(actions.flatMap(action => action.connection_ids)),
  ])
  const refs = new Set(actions.flatMap(action => referenceOfAction(action, known)))
  return [...refs].map(ref => ({ kind: 'expected_change', projectId: change.project_id, ref }))
}

/** How often new expected changes are applied once more, and for how long, in milliseconds. */
const AGAIN_EVERY_MS = 60_000
const AGAIN_FOR_MS = 10 * AGAIN_EVERY_MS
const MOST_AT_ONCE = 100

/**
 * The net under the command: an incident that opens in the moment in which a change is noted was decided without it, and an
 * admin-api that dies after it stored one sends no command.
 */
export function createNewExpectedChanges(
  applied: ExpectedChanges,
  {
    expectedChanges,
    clock,
    logger,
  }: Pick<ReconcilerStores, 'expectedChanges'> & { readonly clock: Clock; readonly logger: Logger },
): Periodic {
  return createPeriodic({
    clock,
    pauseMs: AGAIN_EVERY_MS,
    async run(isStopping) {
      for (const { _id } of await expectedChanges.madeSince(clock.now() - AGAIN_FOR_MS, MOST_AT_ONCE)) {
        if (isStopping()) return
        await applied.apply(_id)
      }
    },
    onFailure: error => logger.warn({ error }, 'expected_changes.not_applied'),
  })
}
