/** Stores in memory for simulations and unit tests. They pass the same suites as the MongoDB stores. */

import type { ChannelDocument } from '@backstop/channels'
import { audienceOf } from '@backstop/channels/deliver'
import type {
  ActorDocument,
  ChannelHealthDocument,
  ConnectionDocument,
  DeadLetterDocument,
  DeliveryDocument,
  DeliveryErasureDocument,
  ErasedActionDocument,
  PersonErasureDocument,
  ProjectDocument,
  ReplayDocument,
  SilenceDocument,
  StormDocument,
  StormMemberDocument,
  SuppressionDocument,
} from '@backstop/contracts'
import { HEARTBEAT } from '@backstop/contracts'
import { type ChannelStore, projectFacts } from '../../src/channels/channel-store.ts'
import type { DeadLetterStore } from '../../src/dead-letters/dead-letter-store.ts'
import {
  type DeliveryStore,
  progressOf,
  SUPERSEDED_TEXT,
  showsOutcome,
  withOutcome,
} from '../../src/delivery-record/delivery-store.ts'
import type { ReportedAction } from '../../src/storm/rules/storm-report.ts'
import { suppressionId } from '../../src/suppressed-addresses/rules/suppression.ts'

/** Collections shared by several stores, and by several services of a simulation. */
export interface MemoryCollections {
  readonly projects: Map<string, ProjectDocument>
  /** Only the fields that the notifier reads. */
  readonly connections: Map<
    string,
    Pick<ConnectionDocument, '_id' | 'project_id' | 'name'> & Partial<Pick<ConnectionDocument, 'status'>>
  >
  readonly actors: Map<string, Pick<ActorDocument, '_id' | 'project_id' | 'name'>>
  readonly silences: Map<string, SilenceDocument>
  readonly channels: Map<string, ChannelDocument>
  readonly channelHealth: Map<string, ChannelHealthDocument>
  readonly deliveries: Map<string, DeliveryDocument>
  readonly deliveryErasures: Map<string, DeliveryErasureDocument>
  readonly erasedActions: Map<string, ErasedActionDocument>
  readonly personErasures: Map<string, PersonErasureDocument>
  readonly suppressions: Map<string, SuppressionDocument>
  readonly replays: Map<string, ReplayDocument>
  readonly deadLetters: Map<string, DeadLetterDocument>
  readonly storms: Map<string, StormDocument>
  readonly stormMembers: Map<string, StormMemberDocument>
  readonly actions: Map<string, ReportedAction>
}

export function createMemoryCollections(): MemoryCollections {
  return {
    projects: new Map(),
    connections: new Map(),
    actors: new Map(),
    silences: new Map(),
    channels: new Map(),
    channelHealth: new Map(),
    deliveries: new Map(),
    deliveryErasures: new Map(),
    erasedActions: new Map(),
    personErasures: new Map(),
    suppressions: new Map(),
    replays: new Map(),
    deadLetters: new Map(),
    storms: new Map(),
    stormMembers: new Map(),
    actions: new Map(),
  }
}

export function createMemoryChannelStore({
  channels,
  channelHealth,
  projects,
  connections,
  actors,
  silences,
  suppressions,
  erasedActions,
}: MemoryCollections): ChannelStore {
  const disabledReason = (channelId: string) => {
    const health = channelHealth.get(channelId)
    return health === undefined || health.disabled_at === null ? null : (health.disabled_reason ?? 'no reason')
  }
  const projectOf = ({ project_id: projectId, config }: ChannelDocument) => {
    const addresses = config.kind === 'email' ? config.to : []
    const found = addresses.map(address => suppressions.get(suppressionId({ projectId, address })))
    return projectFacts(
      projects.get(projectId),
      found.filter(one => one !== undefined),
    )
  }
  const connectionsOf = (projectId: string) =>
    [...connections.values()].filter(({ project_id }) => project_id === projectId)
  const deletedIn = (projectId: string) =>
    new Set(
      connectionsOf(projectId)
        .filter(({ status }) => status === 'deleted')
        .map(({ _id }) => _id),
    )
  return {
    async findSubscribedChannels(projectIds) {
      return [...channels.values()]
        .filter(one => projectIds.includes(one.project_id) && one.enabled && one.deleted_at === null)
        .map(({ _id, project_id, name, events, shows_personal_data, filter, config }) => ({
          channelId: _id,
          name,
          projectId: project_id,
          events: [...events],
          filter: structuredClone(filter ?? null),
          audience: audienceOf(config.kind),
          showsPersonalData: shows_personal_data === true,
        }))
    },
    async findNames(projectIds) {
      return new Map(
        projectIds.flatMap(id => {
          const project = projects.get(id)
          if (project === undefined) return []
          const names = new Map(connectionsOf(id).map(({ _id, name }) => [_id, name]))
          const deletedConnections = deletedIn(id)
          const ofProject = [...actors.values()].filter(({ project_id }) => project_id === id)
          const named = new Map(ofProject.flatMap(({ _id, name }) => (name === null ? [] : [[_id, name] as const])))
          return [[id, { name: project.name, connections: names, deletedConnections, actors: named }] as const]
        }),
      )
    },
    async findSilences({ connectionIds, from, to }) {
      return [...silences.values()]
        .filter(one => connectionIds.includes(one.connection_id) && one.ends_at > from && one.created_at <= to)
        .map(({ _id, connection_id, created_at, ends_at }) => ({ _id, connection_id, created_at, ends_at }))
    },
    async findErasedActions(actionIds) {
      return new Set(actionIds.filter(id => erasedActions.has(id)))
    },
    async findChannels(channelIds) {
      return [...channels.values()]
        .filter(one => channelIds.includes(one._id))
        .map(one => ({
          channel: structuredClone(one),
          disabledReason: disabledReason(one._id),
          project: projectOf(one),
          deletedConnections: deletedIn(one.project_id),
        }))
    },
  }
}

export function createMemoryDeadLetterStore({ deadLetters }: MemoryCollections): DeadLetterStore {
  return {
    async keep(letters) {
      for (const one of letters) deadLetters.set(one._id, structuredClone(one))
    },
    async markReplayed(replayed, at) {
      for (const { id, parkedAt } of replayed) {
        const letter = deadLetters.get(id)
        if (letter?.parked_at.getTime() === parkedAt.getTime()) deadLetters.set(id, { ...letter, replayed_at: at })
      }
    },
  }
}

export function createMemoryDeliveryStore({ deliveries }: MemoryCollections): DeliveryStore {
  return {
    async insertNew(documents) {
      const known = new Set(documents.filter(one => deliveries.has(one._id)).map(one => one._id))
      for (const one of documents) if (!deliveries.has(one._id)) deliveries.set(one._id, structuredClone(one))
      return known
    },
    async progressOf(ids) {
      return new Map(
        ids.flatMap(id => {
          const document = deliveries.get(id)
          return document === undefined ? [] : [[id, progressOf(document)] as const]
        }),
      )
    },
    async record(outcomes) {
      const refused = new Set<string>()
      for (const outcome of outcomes) {
        const document = deliveries.get(outcome.deliveryId)
        if (document?.next_attempt?.attempt === outcome.attempt) {
          deliveries.set(outcome.deliveryId, structuredClone(withOutcome(document, outcome)))
        } else if (document === undefined || !showsOutcome(document, outcome)) {
          refused.add(outcome.deliveryId)
        }
      }
      return refused
    },
    async supersede(orders) {
      const refused = new Set<string>()
      for (const { deliveryId, byId, waitsFor, atMs } of orders) {
        const document = deliveries.get(deliveryId)
        const stands = waitsFor === null ? document?.state === 'dead' : document?.next_attempt?.attempt === waitsFor
        if (document !== undefined && stands) {
          document.state = 'superseded'
          document.reason = SUPERSEDED_TEXT
          document.next_attempt = null
          document.told_by = byId
          document.updated_at = new Date(atMs)
        } else if (document?.told_by !== byId) refused.add(deliveryId)
      }
      return refused
    },
    async findWaiting({ channelId, createdFromMs, dueByMs, after, limit }) {
      const order = (a: DeliveryDocument, b: Pick<DeliveryDocument, '_id' | 'created_at'>) =>
        a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : Number(a._id > b._id))
      return [...deliveries.values()]
        .filter(one => one.channel_id === channelId && !one.test && one.created_at.getTime() >= createdFromMs)
        .filter(one => one.state === 'pending' || one.state === 'retrying')
        .filter(one => one.next_attempt !== null && one.next_attempt.due_at.getTime() <= dueByMs)
        .filter(one => after === null || order(one, after) > 0)
        .sort(order)
        .slice(0, limit)
        .map(one => structuredClone(one))
    },
    async findDigest(digestId) {
      return [...deliveries.values()]
        .filter(one => one.digest_group === digestId && one.state === 'retrying' && one.goes_alone !== true)
        .map(one => structuredClone(one))
    },
    async removeHeartbeats(createdBefore) {
      for (const one of deliveries.values()) {
        const isOld = one.created_at < createdBefore && one.state === 'delivered'
        if (one.channel_id === HEARTBEAT.channelId && isOld) deliveries.delete(one._id)
      }
    },
  }
}
