import type { ActionDocument, DeadLetterDocument, InboxEntry, NewArchiveRemoval } from '@backstop/contracts'
import type { Route } from '../../src/http/route.ts'
import type { TestApi } from '../test-api.ts'
import { deliveryDocument, storeIncident, storeStorm } from './incidents.contract.ts'
import { createTestPerson, createTestProject } from './test-project.ts'

/** The ids of one resource of each kind in a project. */
export interface ProjectResources {
  readonly projectId: string
  readonly connectionId: string
  readonly channelId: string
  readonly operationId: string
  /** Operations that wait for approval. */
  readonly waitingIds: readonly [string, string]
  readonly runId: string
  readonly budgetId: string
  readonly incidentId: string
  readonly stormId: string
  readonly bulkId: string
  readonly actionId: string
  readonly expectedChangeId: string
  readonly actorId: string
  /** An active silence of another connection. */
  readonly silenceId: string
  readonly erasureId: string
  /** The event of a notification of the connection. */
  readonly eventId: string
  /** A dead delivery of the channel. */
  readonly deliveryId: string
  readonly replayId: string
  readonly inboxReplayId: string
  readonly suppressed: string
  readonly keyId: string
  /** A viewer of the project, and the session of this person. */
  readonly personId: string
  readonly sessionId: string
  readonly deadLetterId: string
  /** What removes an old explained action that was exported. */
  readonly archivedPart: NewArchiveRemoval
}

export async function createProjectResources(testApi: TestApi): Promise<ProjectResources> {
  const { api } = testApi
  const { projectId, processorId: connectionId } = await createTestProject(api, 'Shop', { demo: true })
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
  const { incident, action, alertId, at } = await storeIncident(testApi, projectId, connectionId)
  const channelId: string = channel.body.channel_id
  const dead = { ...deliveryDocument(projectId, alertId, at), channel_id: channelId, state: 'dead' as const }
  await testApi.others.deliveries.put(dead)
  const window = { from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' }
  const replay = await api.post('/v1/replays', { channel_id: channelId, ...window })
  const expected = await api.post('/v1/expected-changes', { project_id: projectId, kind: 'refund', note: 'x' })
  const actor = await api.post(`/v1/projects/${projectId}/actors`, { prefix: 'billing-', name: 'x' })
  const quiet = await api.post(`/v1/projects/${projectId}/connections`, { kind: 'processor', name: 'Quiet' })
  const silenced = { project_id: projectId, connection_id: quiet.body.connection_id, reason: 'x' }
  const silence = await api.post('/v1/silences', { ...silenced, duration_seconds: 3600 })
  const erasure = await api.post(`/v1/projects/${projectId}/person-erasures`, { customer_id: 'cus_1' })
  const bulk = { project_id: projectId, filter: {}, change: { kind: 'acknowledge' } }
  const begun = await api.post('/v1/incidents/bulk', bulk)
  const suppressed = await api.post('/v1/suppressions', { project_id: projectId, address: 'left@b.test' })
  const person = await createTestPerson(testApi, [{ project_id: projectId, role: 'viewer' }])
  const eventId = await storeEvent(testApi, projectId, connectionId)
  const inboxReplay = await api.post('/v1/inbox-replays', { connection_id: connectionId, ...window })
  return {
    projectId,
    connectionId,
    channelId,
    operationId: operation.body.operation_id,
    waitingIds: [first.body.operation_id, second.body.operation_id],
    runId,
    budgetId: budget.body.budget_id,
    incidentId: incident,
    bulkId: begun.body.bulk_id,
    stormId: await storeStorm(testApi, projectId, connectionId, []),
    actionId: action,
    expectedChangeId: expected.body.expected_change_id,
    silenceId: silence.body.silence_id,
    erasureId: erasure.body.erasure_id,
    eventId,
    actorId: actor.body.actor_id,
    inboxReplayId: inboxReplay.body.replay_id,
    deliveryId: dead._id,
    replayId: replay.body.replay_id,
    suppressed: suppressed.body.address,
    keyId: key.body.key_id,
    personId: person.personId,
    sessionId: person.sessionId,
    deadLetterId: await storeDeadLetter(testApi, projectId, { project_id: projectId }),
    archivedPart: await exportOldAction(testApi, projectId, action),
  }
}

/** Stores an old explained action like this one, and exports it. */
async function exportOldAction(testApi: TestApi, projectId: string, like: string): Promise<NewArchiveRemoval> {
  const known = (await testApi.stores.actions.find({ _id: like })) as ActionDocument
  const first_seen = new Date('2024-01-01T10:00:00Z')
  const explained = { verdict: 'explained', reason: 'provider_ref_matches', incident_id: null } as const
  const old = { ...known, ...explained, _id: `${like}_old`, first_seen, first_seen_at: first_seen.toISOString() }
  await testApi.others.actions.put(old)
  const { body } = await testApi.api.get(`/v1/projects/${projectId}/archive`)
  const { statement, signature } = JSON.parse(String(body).trim().split('\n').at(-1) ?? '')
  return { statement, signature, actions: [{ action_id: old._id, version: old.version }] }
}

/** Stores a dead letter as the notifier does. @returns its id */
export async function storeDeadLetter(testApi: TestApi, name: string, more: Partial<DeadLetterDocument> = {}) {
  const letter: DeadLetterDocument = {
    _id: `dlt_${name}`,
    kind: 'command',
    project_id: null,
    resource_id: null,
    topic: 'commands',
    key: 'x',
    value: Buffer.from('nonsense').toString('base64'),
    headers: { 'x-original-topic': 'commands' },
    reason_code: 'message_invalid',
    reason: 'The message is not framed',
    parked_at: new Date('2026-11-21T10:00:00.000Z'),
    ...more,
  }
  await testApi.others.deadLetters.put(letter)
  return letter._id
}

/** Stores a notification as the reconciler does. @returns its event id */
export async function storeEvent(
  testApi: TestApi,
  projectId: string,
  connectionId: string,
  became: Partial<Pick<InboxEntry, 'outcome' | 'reason'>> = {},
): Promise<string> {
  const _id = `${connectionId}/evt_1`
  const received_at = new Date('2026-11-21T10:00:00.000Z')
  await testApi.others.inbox.put({
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
  await testApi.others.inboxBodies.put({ _id, received_at, body: '{"id":"evt_1"}' })
  return 'evt_1'
}

export interface RouteCall {
  readonly route: Route
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** True if the route lists resources: its query names the project. Other routes name a resource in the path. */
  readonly isList: boolean
}

/**
 * A valid request for every route about the given resources, in an order in which each can succeed.
 * @throws if a route has no request here: a new route needs a request here
 */
export function callEveryRoute(routes: readonly Route[], own: ProjectResources): RouteCall[] {
  const { projectId, connectionId, channelId, operationId, incidentId, actionId, deliveryId, keyId } = own
  const connection = { id: projectId, connection_id: connectionId }
  const config = { kind: 'email', to: ['a@b.test'] }
  const run = encodeURIComponent(own.runId)
  const calls: Record<string, { params?: Record<string, string>; query?: string; body?: unknown; isList?: boolean }> = {
    createProject: { body: { name: 'x' } },
    listProjects: { isList: true },
    getProject: { params: { id: projectId } },
    getUnresolved: { params: { id: projectId } },
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
    batchOperations: {
      body: {
        items: [
          {
            type: 'report',
            connection_id: connectionId,
            kind: 'refund',
            subject: 'pi_1',
            amount: 1,
            currency: 'eur',
            idempotency_key: `batch ${operationId}`,
          },
        ],
      },
    },
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
    acknowledgeIncident: { params: { id: incidentId } },
    assignIncident: { params: { id: incidentId }, body: { assignee: 'Payments team' } },
    commentIncident: { params: { id: incidentId }, body: { text: 'Asked the shop' } },
    resolveIncident: { params: { id: incidentId }, body: { reason: 'other', note: 'Seen' } },
    reopenIncident: { params: { id: incidentId } },
    changeIncidents: { body: { project_id: projectId, filter: {}, change: { kind: 'acknowledge' } } },
    getIncidentBulk: { params: { id: own.bulkId } },
    listStorms: { query: `?project_id=${projectId}` },
    getStorm: { params: { id: own.stormId } },
    dryRunConnection: { params: { id: projectId, connection_id: connectionId }, query: '?out_of_band=ignore' },
    listActors: { params: { id: projectId } },
    getActor: { params: { id: projectId, actor_id: own.actorId } },
    declareActor: { params: { id: projectId }, body: { prefix: 'desk-', name: 'Desk' } },
    nameActor: { params: { id: projectId, actor_id: own.actorId }, body: { name: 'Support tool', role: 'ours' } },
    listActions: { query: `?project_id=${projectId}` },
    getAction: { params: { id: actionId } },
    search: { query: `?project_id=${projectId}&q=pi_1` },
    getStats: { query: `?project_id=${projectId}` },
    getCompleteness: { query: `?project_id=${projectId}` },
    exportCompleteness: { query: `?project_id=${projectId}` },
    getStatement: { query: `?connection_id=${connectionId}&month=2026-11` },
    streamEvents: { query: `?project_id=${projectId}` },
    createExpectedChange: { body: { project_id: projectId, kind: 'refund', note: 'Yearly goodwill' } },
    getExpectedChange: { params: { id: own.expectedChangeId } },
    listExpectedChangeUses: { params: { id: own.expectedChangeId } },
    listExpectedChanges: { query: `?project_id=${projectId}` },
    createPersonErasure: { params: { id: projectId }, body: { email: 'customer@shop.test' } },
    listPersonErasures: { params: { id: projectId } },
    getPersonErasure: { params: { id: projectId, erasure_id: own.erasureId } },
    exportArchive: { params: { id: projectId } },
    removeArchived: { params: { id: projectId }, body: own.archivedPart },
    createSilence: {
      body: { project_id: projectId, connection_id: connectionId, reason: 'Data migration', duration_seconds: 600 },
    },
    listSilences: { query: `?project_id=${projectId}` },
    getSilence: { params: { id: own.silenceId } },
    listInbox: { query: `?project_id=${projectId}` },
    getInboxEntry: { params: { connection_id: connectionId, event_id: own.eventId } },
    replayInboxEntry: { params: { connection_id: connectionId, event_id: own.eventId } },
    createInboxReplay: {
      body: { connection_id: connectionId, from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' },
    },
    listInboxReplays: { query: `?project_id=${projectId}` },
    getInboxReplay: { params: { id: own.inboxReplayId } },
    previewMessage: { query: `?project_id=${projectId}&format=json` },
    createApiKey: { body: { name: 'x', scopes: ['read'], project_id: projectId } },
    getApiKey: { params: { id: keyId } },
    listApiKeys: { isList: true },
    changeApiKey: { params: { id: keyId }, body: { name: 'Renamed' } },
    rotateApiKey: { params: { id: keyId }, body: {} },
    getMe: { isList: true },
    listSessions: { isList: true },
    createSignInLink: { body: { person_id: own.personId } },
    createPerson: { body: { name: 'x', roles: [{ project_id: projectId, role: 'viewer' }] } },
    listPeople: { query: `?project_id=${projectId}` },
    getPerson: { params: { id: own.personId } },
    changePerson: { params: { id: own.personId }, body: { roles: [{ project_id: projectId, role: 'manager' }] } },
    listAudit: { isList: true },
    verifyAudit: {},
    exportAudit: {},
    getAuditPublicKeys: {},
    listDeadLetters: { isList: true },
    getInstallation: {},
    getProcesses: {},
    getSecretKeys: {},
    rewrapSecrets: {},
    replayDeadLetter: { params: { id: own.deadLetterId } },
    dismissDeadLetter: { params: { id: own.deadLetterId } },
    replayAllDeadLetters: { body: { project_id: projectId, kind: 'delivery' } },
    dismissAllDeadLetters: { body: { project_id: projectId, kind: 'command' } },
    // Deletions come last.
    deleteBudget: { params: { id: own.budgetId } },
    revokeApiKey: { params: { id: keyId } },
    endSession: { params: { id: own.sessionId } },
    removePerson: { params: { id: own.personId } },
    deleteSuppression: { params: { address: own.suppressed }, query: `?project_id=${projectId}` },
    endSilence: { params: { id: own.silenceId } },
    forgetActor: { params: { id: projectId, actor_id: own.actorId } },
    deleteExpectedChange: { params: { id: own.expectedChangeId } },
    deleteAlertChannel: { params: { id: channelId } },
    deleteConnection: { params: connection },
    removeDemoProject: { params: { id: projectId } },
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
