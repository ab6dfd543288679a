import type { ActionDocument, ExpectedChangeDocument } from '@backstop/contracts'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import { referenceOfAction } from '../batch/action-reference.ts'
import type { ExpectedChangeStore, ExpectedChangeUsesStore } from '../batch/expected-change-store.ts'
import type { WorkItem } from '../batch/work-item.ts'
import type { ConnectionReader, KeptConnection } from '../connections/connection-reader.ts'
import type { OpenActionPosition, OpenActionReader } from './open-action-store.ts'

export interface ExpectedChangeApplierOptions {
  readonly stores: {
    readonly expectedChanges: Pick<ExpectedChangeStore, 'byIds'>
    readonly expectedChangeUses: Pick<ExpectedChangeUsesStore, 'load' | 'allOf'>
    readonly openActions: OpenActionReader
    readonly connections: Pick<ConnectionReader, 'byIds'>
  }
  /** Decides the cases of these items again (reconcile-batch.ts). */
  readonly reconcile: (items: readonly WorkItem[]) => Promise<void>
}

/** Applies a new expected change to actions with open incidents. It is idempotent. */
export interface ExpectedChangeApplier {
  /** @returns the result, for the log */
  apply(expectedChangeId: string): Promise<'applied' | 'nothing_open' | 'used_up' | 'of_an_incident' | 'not_there'>
}

/** Open incidents per page. */
const PAGE = 200

export function createExpectedChangeApplier({
  stores,
  reconcile,
}: ExpectedChangeApplierOptions): ExpectedChangeApplier {
  return {
    async apply(id) {
      const [change] = await stores.expectedChanges.byIds([id])
      if (change === undefined) return 'not_there'
      // The resolution of its incident applies it (change-incidents.ts).
      if (change.incident_id != null) return 'of_an_incident'
      const left = await findUncoveredActions(id, stores)
      if (left.length > 0) await reconcile(await itemsOf(left, stores))
      let after: OpenActionPosition | undefined
      let applied = 0
      for (;;) {
        // With `limits` there are no uses under this id: then every open incident is decided again, and its case counts.
        const used = (await stores.expectedChangeUses.load([id])).get(id)?.uses.length ?? 0
        if (used >= (change.max_changes ?? 1)) return applied === 0 ? 'used_up' : 'applied'
        const page = await stores.openActions.page(change.project_id, after, PAGE)
        const items = await itemsOf(page.map(({ action }) => action).filter(mayBeCovered(change)), stores)
        if (items.length > 0) await reconcile(items)
        applied += items.length
        after = page.at(-1)
        if (after === undefined) return applied === 0 ? 'nothing_open' : 'applied'
      }
    },
  }
}

/**
 * Actions that used the expected change but are not covered. The process stopped before it saved their case, and no
 * other message may concern that case. The next decision of the case covers the action or releases the use.
 */
async function findUncoveredActions(
  id: string,
  { expectedChangeUses, openActions }: ExpectedChangeApplierOptions['stores'],
): Promise<ActionDocument[]> {
  const uses = (await expectedChangeUses.allOf(id)).flatMap(period => period.uses)
  if (uses.length === 0) return []
  const actions = await openActions.byIds(uses.map(({ actionId }) => actionId))
  return actions.filter(({ reason }) => reason !== 'expected_change_matches')
}

/** True if the expected change may cover an action, by the data that lists show. The case decides. */
function mayBeCovered(change: ExpectedChangeDocument): (action: ActionDocument) => boolean {
  return action =>
    action.kind === change.kind &&
    (change.connection_id === null || action.connection_ids.includes(change.connection_id)) &&
    (change.limits?.actor_id == null || change.limits.actor_id === action.actor_id) &&
    (change.amount === null || change.amount === action.amount) &&
    (change.currency === null || change.currency === action.currency)
}

async function itemsOf(
  actions: readonly ActionDocument[],
  { connections }: ExpectedChangeApplierOptions['stores'],
): Promise<WorkItem[]> {
  if (actions.length === 0) return []
  const known: ReadonlyMap<string, KeptConnection> = await connections.byIds([
    ...new Set(actions.flatMap(action => action.connection_ids)),
  ])
  const refs = new Set(actions.flatMap(action => referenceOfAction(action, known)))
  const projectId = actions[0]?.project_id ?? ''
  return [...refs].map(ref => ({ kind: 'expected_changes', projectId, ref }))
}

/** How often new expected changes are applied again, and for how long, in milliseconds. */
const REAPPLY_EVERY_MS = 60_000
const REAPPLY_FOR_MS = 10 * REAPPLY_EVERY_MS
/** The newest expected changes of each project that one run applies. */
const MAX_PER_PROJECT = 100

/**
 * Applies new expected changes again, for two cases: an incident may open at the same moment without seeing the
 * expected change, and admin-api may crash after storing it and before sending the command.
 */
export function createExpectedChangeReapplier(
  applied: ExpectedChangeApplier,
  {
    expectedChanges,
    clock,
    logger,
  }: {
    readonly expectedChanges: Pick<ExpectedChangeStore, 'madeSince'>
    readonly clock: Clock
    readonly logger: Logger
  },
): Periodic {
  return createPeriodic({
    clock,
    pauseMs: REAPPLY_EVERY_MS,
    async run(isStopping) {
      for (const { _id } of await expectedChanges.madeSince(clock.now() - REAPPLY_FOR_MS, MAX_PER_PROJECT)) {
        if (isStopping()) return
        await applied.apply(_id)
      }
    },
    onFailure: error => logger.warn({ error }, 'expected_changes.not_applied'),
  })
}
