import type { DeadLetterDocument, InboxEntry } from '@backstop/contracts'
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
  /** Two that wait for approval. */
  readonly waitingIds: readonly [string, string]
  readonly runId: string
  readonly budgetId: string
  readonly incidentId: string
  readonly actionId: string
  readonly expectedChangeId: string
  /** Of a notification of the connection. */
  readonly eventId: string
  /** One that is dead, of the channel. */
  readonly deliveryId: string
  readonly replayId: string
  readonly suppressed: string
  readonly keyId: string
  /** Of no project: a key that is bound to one does not see it. */
  readonly deadLetterId: string
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
  const runId = `run of ${projectId}`
  const refund = { connection_id: connectionId, kind: 'refund', subject: 'pi_1', run_id: runId }
  const operation = await api.post('/v1/operations', refund)
  const [first, second] = [
    await api.post('/v1/operations', { ...refund, state: 'approval_pending' }),
    await api.post('/v1/operations', { ...refund, state: 'approval_pending' }),
  ]
  const cap = { project_id: projectId, name: 'x', currency: 'chf', cap: 1, interval: 'day' }
  const budget = await api.post('/v1/budgets', cap)
  const key = await api.post('/v1/api-keys', { name: 'x', scopes: ['read'], project_id: projectId })
  const { incident, action, alertId, at } = await tellStory(world, projectId, connectionId)
  const channelId: string = channel.body.channel_id
  const dead = { ...storedDelivery(projectId, alertId, at), channel_id: channelId, state: 'dead' as const }
  await world.others.deliveries.put(dead)
  const window = { from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' }
  const replay = await api.post('/v1/replays', { channel_id: channelId, ...window })
  const expected = await api.post('/v1/expected-changes', { project_id: projectId, kind: 'refund', note: 'x' })
  const suppressed = await api.post('/v1/suppressions', { project_id: projectId, address: 'left@b.test' })
  return {
    projectId,
    connectionId,
    channelId,
    operationId: operation.body.operation_id,
    waitingIds: [first.body.operation_id, second.body.operation_id],
    runId,
    budgetId: budget.body.budget_id,
    incidentId: incident,
    actionId: action,
    expectedChangeId: expected.body.expected_change_id,
    eventId: await storeEvent(world, projectId, connectionId),
    deliveryId: dead._id,
    replayId: replay.body.replay_id,
    suppressed: suppressed.body.address,
    keyId: key.body.key_id,
    deadLetterId: await storeDeadLetter(world, projectId),
  }
}

/** Keeps a message that cannot be read, as the notifier does. @returns its id */
export async function storeDeadLetter(world: AdminWorld, name: string, more: Partial<DeadLetterDocument> = {}) {
  const letter: DeadLetterDocument = {
    _id: `dlt_${name}`,
    topic: 'commands',
    key: 'x',
    value: Buffer.from('nonsense').toString('base64'),
    headers: { 'x-original-topic': 'commands' },
    reason_code: 'message_invalid',
    reason: 'The message is not framed',
    parked_at: new Date('2026-11-21T10:00:00.000Z'),
    ...more,
  }
  await world.others.deadLetters.put(letter)
  return letter._id
}

/** Keeps a notification as the reconciler does. @returns its event id */
export async function storeEvent(
  world: AdminWorld,
  projectId: string,
  connectionId: string,
  became: Partial<Pick<InboxEntry, 'outcome' | 'reason'>> = {},
): Promise<string> {
  const _id = `${connectionId}/evt_1`
  const received_at = new Date('2026-11-21T10:00:00.000Z')
  await world.others.inbox.put({
    _id,
    project_id: projectId,
    connection_id: connectionId,
    provider: 'processor',
    event_id: 'evt_1',
    event_type: 'refund.created',
    outcome: 'recorded',
    reason: 'The event was recorded',
    action_ids: [],
    received_at,
    processed_at: received_at,
    ...became,
  })
  await world.others.inboxBodies.put({ _id, received_at, body: '{"id":"evt_1"}' })
  return 'evt_1'
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
  const run = encodeURIComponent(own.runId)
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
    createOperation: {
      body: { connection_id: connectionId, kind: 'refund', subject: 'pi_1', amount: 1, currency: 'eur' },
    },
    transitionOperation: { params: { id: operationId }, body: { to: 'executing' } },
    approveOperation: { params: { id: own.waitingIds[0] }, body: { reason: 'Looks right' } },
    declineOperation: { params: { id: own.waitingIds[1] } },
    listOperations: { query: `?project_id=${projectId}` },
    getOperation: { params: { id: operationId } },
    createBudget: { body: { project_id: projectId, name: 'x', currency: 'USD', cap: 100, interval: 'month' } },
    listBudgets: { query: `?project_id=${projectId}` },
    getBudget: { params: { id: own.budgetId } },
    changeBudget: { params: { id: own.budgetId }, body: { cap: 2 } },
    failRun: { params: { id: run }, body: { project_id: projectId, reason: 'Timed out' } },
    listRuns: { query: `?project_id=${projectId}` },
    getRun: { params: { id: run }, query: `?project_id=${projectId}` },
    listIncidents: { query: `?project_id=${projectId}` },
    getIncident: { params: { id: incidentId } },
    listActions: { query: `?project_id=${projectId}` },
    getAction: { params: { id: actionId } },
    createExpectedChange: { body: { project_id: projectId, kind: 'refund', note: 'Yearly goodwill' } },
    getExpectedChange: { params: { id: own.expectedChangeId } },
    listExpectedChanges: { query: `?project_id=${projectId}` },
    listInbox: { query: `?project_id=${projectId}` },
    getInboxEntry: { params: { connection_id: connectionId, event_id: own.eventId } },
    previewMessage: { query: `?project_id=${projectId}&format=json` },
    createApiKey: { body: { name: 'x', scopes: ['read'], project_id: projectId } },
    listApiKeys: { isList: true },
    listAudit: { isList: true },
    listDeadLetters: { isList: true },
    replayDeadLetter: { params: { id: own.deadLetterId } },
    // What ends a thing comes last.
    deleteBudget: { params: { id: own.budgetId } },
    revokeApiKey: { params: { id: keyId } },
    deleteSuppression: { params: { address: own.suppressed }, query: `?project_id=${projectId}` },
    deleteExpectedChange: { params: { id: own.expectedChangeId } },
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
