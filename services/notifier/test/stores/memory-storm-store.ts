import { partsOfStormScope, type StormDocument, type StormMemberDocument } from '@backstop/contracts'
import type { MemberQuery, StormStore } from '../../src/storm/storm-store.ts'
import type { MemoryCollections } from './memory-stores.ts'

type Collections = Pick<MemoryCollections, 'storms' | 'stormMembers' | 'actions'>

export function createMemoryStormStore(collections: Collections): StormStore {
  const { storms, stormMembers, actions } = collections
  const isNear = (member: StormMemberDocument, { scope, fromMs, toMs }: MemberQuery['near'][number]) =>
    (member.connection_id === scope || (scope.endsWith('/') && member.connection_id.startsWith(scope))) &&
    member.storm_id === null &&
    member.opened_at.getTime() >= fromMs &&
    member.opened_at.getTime() <= toMs
  const openStorm = (scope: string) =>
    [...storms.values()].find(storm => storm.connection_id === scope && storm.state === 'open')
  const membersIn = (stormId: string) => [...stormMembers.values()].filter(member => member.storm_id === stormId)
  return {
    async read({ incidentIds, near }) {
      const members = [...stormMembers.values()].filter(
        member => incidentIds.includes(member._id) || near.some(one => isNear(member, one)),
      )
      const connections = near.map(({ scope }) => partsOfStormScope(scope).connectionId)
      const open = [...storms.values()].filter(
        ({ state, connection_id }) =>
          state === 'open' && connections.includes(partsOfStormScope(connection_id).connectionId),
      )
      return {
        members: structuredClone(members),
        openStorms: new Map(open.map(({ _id, connection_id }) => [connection_id, _id])),
      }
    },
    async insert(documents) {
      const known = new Set(documents.filter(({ _id }) => stormMembers.has(_id)).map(({ _id }) => _id))
      for (const one of documents) if (!stormMembers.has(one._id)) stormMembers.set(one._id, structuredClone(one))
      return known
    },
    async change(changes) {
      for (const { incidentId, set } of changes) Object.assign(stormMembers.get(incidentId) ?? {}, set)
    },
    async lookAgain(stormIds, atMs) {
      for (const storm of stormIds.flatMap(id => storms.get(id) ?? [])) {
        storm.version++
        storm.reported_version++
        if (storm.state === 'ended') storm.next_look_at = new Date(atMs)
      }
    },
    async noteAcknowledged(stormIds, atMs) {
      for (const storm of stormIds.flatMap(id => storms.get(id) ?? [])) {
        storm.version++
        storm.reported_version++
        storm.acknowledgements++
        storm.next_look_at = new Date(atMs)
      }
    },
    async touch(joins) {
      let areAllOpen = true
      for (const { stormId, recordedAtMs } of joins) {
        const storm = storms.get(stormId)
        if (storm?.state === 'open') {
          storm.last_member_at = new Date(Math.max(storm.last_member_at.getTime(), recordedAtMs))
          storm.version++
        } else areAllOpen = false
      }
      return areAllOpen
    },
    find: async stormId => structuredClone(storms.get(stormId)),
    openStormOf: async scope => openStorm(scope)?._id,
    async adopt(stormId, near) {
      for (const member of stormMembers.values()) {
        if (isNear(member, near)) Object.assign(member, { storm_id: stormId, connection_id: near.scope })
      }
    },
    async open(storm) {
      if (storms.has(storm._id) || openStorm(storm.connection_id) !== undefined) return
      storms.set(storm._id, structuredClone(storm))
    },
    async addBurst(stormId, burst) {
      const storm = storms.get(stormId)
      if (storm === undefined || storm.bursts?.some(known => known.incident_id === burst.incident_id)) return
      storm.bursts = [...(storm.bursts ?? []), burst]
    },
    async remove({ _id, version }) {
      const storm = storms.get(_id)
      if (storm?.state === 'open' && storm.report === 0 && storm.version === version) storms.delete(_id)
    },
    async reopen(stormId, atMs) {
      const storm = storms.get(stormId)
      if (storm?.state !== 'ended' || openStorm(storm.connection_id) !== undefined) return
      Object.assign(storm, { state: 'open', ended_at: null, next_look_at: new Date(atMs) })
    },
    async move(scope, from, to, incidentIds) {
      for (const member of membersIn(from)) {
        if (member.connection_id === scope && incidentIds?.includes(member._id) !== false) member.storm_id = to
      }
    },
    countMembers: async ({ _id }) => membersIn(_id).length,
    async due(nowMs, limit) {
      const due = [...storms.values()].filter(({ next_look_at: at }) => at !== undefined && at.getTime() <= nowMs)
      return structuredClone(due.slice(0, limit))
    },
    async visitMembers({ _id }, visit) {
      for (const member of structuredClone(membersIn(_id)).sort(byAction)) visit(member)
    },
    async actionsOf(actionIds) {
      return new Map(
        actionIds.flatMap(id => {
          const action = actions.get(id)
          return action === undefined ? [] : [[id, structuredClone(action)] as const]
        }),
      )
    },
    async postpone({ _id, report, acknowledgements }, untilMs) {
      const storm = storms.get(_id)
      if (storm?.state !== 'open' || storm.report !== report || storm.acknowledgements !== acknowledgements) return
      Object.assign(storm, { next_look_at: new Date(untilMs), seen_acknowledgements: acknowledgements })
    },
    async forget({ _id, report, version }) {
      const storm = storms.get(_id)
      if (storm?.state === 'ended' && storm.report === report && storm.version === version) delete storm.next_look_at
    },
    async report(read, { entry, incidents, resolved, unacknowledged, atMs, nextLookAtMs }) {
      const storm = storms.get(read._id)
      if (storm === undefined || storm.state !== read.state || storm.report !== read.report) return undefined
      if (storm.acknowledgements !== read.acknowledgements) return undefined
      if (nextLookAtMs === null && storm.version !== read.version) return undefined
      const at = new Date(atMs)
      const reported: Partial<StormDocument> = {
        report: read.report + 1,
        reported_at: at,
        reported_version: read.version,
        reported_incidents: incidents,
        reported_resolved: resolved,
        reported_unacknowledged: unacknowledged,
        seen_acknowledgements: read.acknowledgements,
        outbox: [...(storm.outbox ?? []), ...(entry === null ? [] : [structuredClone(entry)])],
      }
      Object.assign(storm, reported)
      if (nextLookAtMs === null) {
        Object.assign(storm, { state: 'ended', ended_at: read.ended_at ?? at })
        delete storm.next_look_at
      } else storm.next_look_at = new Date(nextLookAtMs)
      return { documentId: storm._id, entries: structuredClone(storm.outbox ?? []) }
    },
    outbox: {
      pending: async (writtenBefore, limit) =>
        [...storms.values()]
          .filter(({ outbox }) => outbox?.some(({ at }) => at < writtenBefore))
          .slice(0, limit)
          .map(({ _id, outbox }) => ({ documentId: _id, entries: structuredClone(outbox ?? []) })),
      async published(documents) {
        for (const { documentId, entryIds } of documents) {
          const storm = storms.get(documentId)
          if (storm !== undefined) storm.outbox = storm.outbox?.filter(({ id }) => !entryIds.includes(id)) ?? []
        }
      },
    },
  }
}

function byAction(a: StormMemberDocument, b: StormMemberDocument): number {
  const order = a.action_id === b.action_id ? a.opened_at.getTime() - b.opened_at.getTime() : 0
  if (order !== 0) return order
  const [one, other] = [`${a.action_id} ${a._id}`, `${b.action_id} ${b._id}`]
  return one < other ? -1 : one > other ? 1 : 0
}
