import { type ExpectedChangeDocument, idInReference } from '@backstop/contracts'
import { type Case, isOurOwnChange } from '@backstop/verdict'
import { referenceOfAction } from '../batch/action-reference.ts'
import type { HistoryContext, StoredEvent } from './history.ts'
import type { ActionAnchor, ReplaySource } from './source.ts'

/** One payment or subscription to replay. */
export interface ReplayGroup {
  /** Undefined if no case was created from its events. */
  readonly theCase: Case | undefined
  readonly refs: readonly string[]
  /** Events that led to no action when they were processed, and are relevant by today's rules. */
  readonly more: readonly StoredEvent[]
}

/** A group with all inputs for its verdicts. */
export interface LoadedGroup extends ReplayGroup {
  readonly events: readonly StoredEvent[]
  readonly surroundings: HistoryContext
}

/** Loads the inputs for the verdicts of these groups, with few reads per collection. */
export async function loadGroups(groups: readonly ReplayGroup[], source: ReplaySource): Promise<LoadedGroup[]> {
  const candidates = groups.map(({ theCase }) => (theCase === undefined ? [] : inboxIdsOf(theCase)))
  const documents = new Map((await source.inboxById([...new Set(candidates.flat())])).map(found => [found._id, found]))
  const bodies = await bodiesOf([...documents.values()], source)
  const operations = await source.operations([...new Set(groups.flatMap(({ refs }) => [...refs]))])
  const connectionIds = new Set([
    ...groups.flatMap(({ theCase, more }) => [
      ...(theCase === undefined ? [] : connectionsOf(theCase)),
      ...more.map(({ document }) => document.connection_id),
    ]),
    ...operations.map(operation => operation.connection_id),
  ])
  const connections = await source.connections([...connectionIds])
  const firstExecutions = await source.firstExecutions([...connectionIds])
  const projectIds = new Set([...connections.values()].map(({ project_id }) => project_id))
  const names = new Set(groups.flatMap(({ refs }) => refs.map(idInReference)))
  const expectedChanges = await source.expectedChanges([...projectIds], [...names])
  const expectedChangeUses = await source.expectedChangeUses(expectedChanges.map(({ _id }) => _id))
  return groups.map((group, index) => {
    const known = (candidates[index] ?? []).flatMap(id => documents.get(id) ?? [])
    const events = [
      ...known.map(document => ({ document, body: bodies.get(document._id) ?? null })),
      ...group.more,
    ].toSorted((a, b) => a.document.received_at.getTime() - b.document.received_at.getTime())
    const refs = new Set(group.refs)
    return {
      ...group,
      events,
      surroundings: {
        operations: operations.filter(operation => operation.refs.some(ref => refs.has(ref))),
        connections,
        firstExecutions,
        expectedChanges: expectedChanges.flatMap(change => asReplayed(change, group.theCase)),
        expectedChangeUses,
      },
    }
  })
}

/**
 * The replay does not repeat what people did about incidents. So an expected change of an incident that was resolved as our own change is replayed
 * as any other, and one of another incident is left out.
 */
function asReplayed(document: ExpectedChangeDocument, theCase: Case | undefined): ExpectedChangeDocument[] {
  const { incident_id: incidentId, ...ordinary } = document
  if (incidentId == null) return [document]
  return theCase?.actions.some(action => isOurOwnChange(action, incidentId)) ? [ordinary] : []
}

/** Bodies of hints are not read, because their content is not trusted. */
function bodiesOf(documents: readonly StoredEvent['document'][], source: ReplaySource) {
  return source.bodies(documents.flatMap(({ _id, provider }) => (provider === 'subscription' ? [] : [_id])))
}

/** Two senders may use the same event id, so an event id is looked up with each connection that shows the case. */
function inboxIdsOf({ actions, merged, refundTotals, subscriptions }: Case): string[] {
  const snapshots = subscriptions.flatMap(row => row.snapshots)
  const facts = [...actions, ...merged.map(({ record }) => record), ...refundTotals, ...snapshots]
  const ids = facts.flatMap(({ seenThrough, eventIds }) =>
    seenThrough.flatMap(connection => eventIds.map(eventId => `${connection.id}/${eventId}`)),
  )
  return [...new Set(ids)]
}

function connectionsOf({ actions, refundTotals, subscriptions }: Case): string[] {
  const facts = [...actions, ...refundTotals, ...subscriptions.flatMap(row => row.snapshots)]
  return facts.flatMap(({ seenThrough }) => seenThrough.map(({ id }) => id))
}

/** The references that lead to the cases of these actions. */
export async function refsOfAnchors(anchors: readonly ActionAnchor[], source: ReplaySource): Promise<string[]> {
  const ids = anchors.flatMap(({ provider, connection_ids }) => (provider === 'subscription' ? connection_ids : []))
  const connections = await source.connections([...new Set(ids)])
  return anchors.flatMap(anchor => referenceOfAction(anchor, connections))
}
