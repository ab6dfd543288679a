import type { Route } from '../../src/http/route.ts'
import type { AdminWorld } from '../admin-world.ts'
import { openProject } from './project-of-its-own.ts'
import { storedDelivery, tellStory } from './stories.contract.ts'

/** One of each thing of a project. */
export interface Belongings {
  readonly projectId: string
  readonly connectionId: string
  readonly channelId: string
  readonly operationId: string
  readonly incidentId: string
  readonly actionId: string
  /** One that is dead, of the channel. */
  readonly deliveryId: string
  readonly replayId: string
  readonly suppressed: string
  readonly keyId: string
}

export async function openBelongings(world: AdminWorld): Promise<Belongings> {
  const { api } = world
  const { projectId, processorId: connectionId } = await openProject(api)
  const config = { kind: 'webhook', url: 'https://hooks.example.test/in' }
  const channel = await api.post('/v1/alert-channels', {
    project_id: projectId,
    name: 'x',
    events: ['run.failed'],
    config,
  })
  const operation = await api.post('/v1/operations', { connection_id: connectionId, kind: 'refund', subject: 'pi_1' })
  const key = await api.post('/v1/api-keys', { name: 'x', scopes: ['read'], project_id: projectId })
  const { incident, action, alertId, at } = await tellStory(world, projectId, connectionId)
  const channelId: string = channel.body.id
  const dead = { ...storedDelivery(projectId, alertId, at), channel_id: channelId, state: 'dead' as const }
  await world.others.deliveries.put(dead)
  const window = { from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' }
  const replay = await api.post('/v1/replays', { channel_id: channelId, ...window })
  const suppressed = await api.post('/v1/suppressions', { project_id: projectId, address: 'left@b.test' })
  return {
    projectId,
    connectionId,
    channelId,
    operationId: operation.body.operation_id,
    incidentId: incident,
    actionId: action,
    deliveryId: dead._id,
    replayId: replay.body.replay_id,
    suppressed: suppressed.body.address,
    keyId: key.body.key_id,
  }
}

export interface RouteCall {
  readonly route: Route
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** A list names a project by its query; everything else names a thing. */
  readonly isList: boolean
}

/**
 * A sound request for every route, about the given things, in an order in which each can succeed.
 * @throws when a route has none: whoever adds a route says here how it is called
 */
export function callEveryRoute(routes: readonly Route[], own: Belongings): RouteCall[] {
  const { projectId, connectionId, channelId, operationId, incidentId, actionId, deliveryId, keyId } = own
  const connection = { id: projectId, connection_id: connectionId }
  const config = { kind: 'email', to: ['a@b.test'] }
  const calls: Record<string, { params?: Record<string, string>; query?: string; body?: unknown; isList?: boolean }> = {
    createProject: { body: { name: 'x' } },
    listProjects: { isList: true },
    getProject: { params: { id: projectId } },
    changeProject: { params: { id: projectId }, body: { name: 'y', branding: { name: 'Acme' } } },
    createConnection: { params: { id: projectId }, body: { kind: 'processor', name: 'x' } },
    listConnections: { params: { id: projectId } },
    getConnection: { params: connection },
    changeConnection: { params: connection, body: { out_of_band: 'ignore' } },
    rotateConnectionSecret: { params: connection, body: {} },
    listAlertChannels: { query: `?project_id=${projectId}` },
    createAlertChannel: { body: { project_id: projectId, name: 'x', events: ['run.failed'], config } },
    getAlertChannel: { params: { id: channelId } },
    changeAlertChannel: { params: { id: channelId }, body: { name: 'y', config: { headers: { 'X-A': 'b' } } } },
    rotateAlertChannelSecret: { params: { id: channelId }, body: {} },
    testAlertChannel: { params: { id: channelId } },
    listDeliveries: { query: `?project_id=${projectId}` },
    getDelivery: { params: { id: deliveryId } },
    retryDelivery: { params: { id: deliveryId } },
    createReplay: { body: { channel_id: channelId, from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' } },
    listReplays: { query: `?project_id=${projectId}` },
    getReplay: { params: { id: own.replayId } },
    listSuppressions: { query: `?project_id=${projectId}` },
    createSuppression: { body: { project_id: projectId, address: 'a@b.test' } },
    createOperation: { body: { connection_id: connectionId, kind: 'refund', subject: 'pi_1' } },
    transitionOperation: { params: { id: operationId }, body: { to: 'executing' } },
    listOperations: { query: `?project_id=${projectId}` },
    getOperation: { params: { id: operationId } },
    listIncidents: { query: `?project_id=${projectId}` },
    getIncident: { params: { id: incidentId } },
    listActions: { query: `?project_id=${projectId}` },
    getAction: { params: { id: actionId } },
    previewMessage: { query: `?project_id=${projectId}&format=json` },
    createApiKey: { body: { name: 'x', scopes: ['read'], project_id: projectId } },
    listApiKeys: { isList: true },
    // What ends a thing comes last.
    revokeApiKey: { params: { id: keyId } },
    deleteSuppression: { params: { address: own.suppressed }, query: `?project_id=${projectId}` },
    deleteAlertChannel: { params: { id: channelId } },
    deleteConnection: { params: connection },
  }
  const withKey = routes.filter(route => route.scope !== 'public')
  for (const { operationId: name } of withKey) {
    if (calls[name] === undefined) throw new Error(`Say in callEveryRoute how ${name} is called`)
  }
  return Object.entries(calls).map(([name, { params = {}, query = '', body, isList = false }]) => {
    const route = withKey.find(one => one.operationId === name)
    if (route === undefined) throw new Error(`There is no route ${name} any more: take it out of callEveryRoute`)
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, param: string) => params[param] ?? `no ${param}`)
    return { route, method: route.method.toUpperCase(), path: path + query, body, isList }
  })
}
