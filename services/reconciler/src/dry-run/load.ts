import { idInReference } from '@backstop/contracts'
import { referenceOfAction } from '../batch/action-reference.ts'
import type { Case } from '../case/case.ts'
import type { KeptEvent, Surroundings } from './history.ts'
import type { ActionAnchor, ReplaySource } from './source.ts'

/** One payment or subscription that is to be replayed. */
export interface Group {
  /** Undefined where nothing was made of its events then. */
  readonly theCase: Case | undefined
  readonly refs: readonly string[]
  /** Events of which nothing was made then, and something is now. */
  readonly more: readonly KeptEvent[]
}

/** A group with all that its verdicts rest on. */
export interface LoadedGroup extends Group {
  readonly events: readonly KeptEvent[]
  readonly surroundings: Surroundings
}

/** Loads what the verdicts of these groups rest on: one read, or a few, per collection. */
export async function loadGroups(groups: readonly Group[], source: ReplaySource): Promise<LoadedGroup[]> {
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
        expectedChanges,
        expectedChangeUses,
      },
    }
  })
}

/** Of hints, no body is read: nothing in it is believed. */
function bodiesOf(documents: readonly KeptEvent['document'][], source: ReplaySource) {
  return source.bodies(documents.flatMap(({ _id, provider }) => (provider === 'subscription' ? [] : [_id])))
}

/** Event ids are the senders' own, so each may have come through any of the connections. */
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

/** The references by which the cases of these actions are found. */
export async function refsOfAnchors(anchors: readonly ActionAnchor[], source: ReplaySource): Promise<string[]> {
  const ids = anchors.flatMap(({ provider, connection_ids }) => (provider === 'subscription' ? connection_ids : []))
  const connections = await source.connections([...new Set(ids)])
  return anchors.flatMap(anchor => referenceOfAction(anchor, connections))
}
