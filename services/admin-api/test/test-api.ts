import type {
  ActionDocument,
  Alert,
  ChannelHealthDocument,
  Command,
  DailyTotalsDocument,
  DeadLetterDocument,
  DeliveryAttempt,
  DeliveryDocument,
  DeliveryRequest,
  ExpectedChangeUsesDocument,
  InboxBodyDocument,
  InboxDocument,
  InboxReplayDocument,
  IncidentBulkDocument,
  IncidentDocument,
  IncidentOutcomeDocument,
  Operation,
  ProjectTotalsDocument,
  ReplayDocument,
  StormDocument,
  StormMemberDocument,
  SuppressionDocument,
  SweepDocument,
} from '@backstop/contracts'
import {
  AppError,
  type Bus,
  type Clock,
  createConsumerMetrics,
  createLogger,
  createMetrics,
  createSecretBox,
  createWorkLoop,
  type Egress,
  type MessageCodec,
  parseKeyRing,
  Secret,
  systemClock,
} from '@backstop/kit'
import { createFixedCodec, createMemoryBus, until } from '@backstop/kit/test'
import { approvalPolicyOf } from '@backstop/ledger'
import { openMemoryBooks } from '@backstop/ledger/test'
import { type AdminApp, type AdminPorts, type AdminSettings, createApp } from '../src/app.ts'
import type { InstallationReaders } from '../src/installation/read-state.ts'
import type { ExpiredSecrets } from '../src/resources/connections/expired-secrets.ts'
import type { ChangeFeed } from '../src/store/change-feed.ts'
import type { Collection } from '../src/store/collection.ts'
import type { SearchIndex } from '../src/store/search-index.ts'
import type { AdminStores } from '../src/store/stores.ts'
import { type ApiClient, createApiClient, type Transcript } from './api-client.ts'
import { createMemorySearchIndex } from './memory-search-index.ts'
import {
  createMemoryExpiredSecrets,
  createMemoryStores,
  type MemoryStores,
  memoryChangeFeedOf,
} from './memory-stores.ts'

/** A running management API for tests, with stand-ins for the reconciler and the notifier. */
export interface TestApi {
  readonly app: AdminApp
  /** A client with the bootstrap key. */
  readonly api: ApiClient
  readonly stores: AdminStores
  readonly expiredSecrets: ExpiredSecrets
  /** Writable collections of the other services, for test data. */
  readonly others: OtherServicesCollections
  /** Returns the whole content of the database as text. */
  dump(): Promise<string>
  /** Advances the clock of the API. */
  advanceClock(ms: number): void
  now(): number
  /** All log lines so far. */
  readonly log: readonly string[]
  /** All requests and answers so far. */
  readonly transcript: Transcript
  /** Returns every published version of an operation. */
  published(operationId: string): readonly Operation[]
  /** Returns the published alerts of a project. */
  alerts(projectId: string): readonly Alert[]
  /** The published commands. */
  readonly commands: readonly Command[]
  /** Sets the receiver's answer to channel tests. If undefined, the stand-in of the notifier neither delivers nor obeys commands. */
  setReceiverAnswer(attempt: Partial<DeliveryAttempt> | undefined): void
  /** Returns the delivery requests that were published for a channel. */
  requested(channelId: string): readonly DeliveryDocument[]
  stop(): Promise<void>
}

export interface OtherServicesCollections {
  readonly actions: Collection<ActionDocument>
  readonly incidents: Collection<IncidentDocument>
  readonly incidentOutcomes: Collection<IncidentOutcomeDocument>
  readonly incidentBulks: Collection<IncidentBulkDocument>
  readonly deliveries: Collection<DeliveryDocument>
  readonly channelHealth: Collection<ChannelHealthDocument>
  readonly replays: Collection<ReplayDocument>
  readonly stormMembers: Collection<StormMemberDocument>
  readonly storms: Collection<StormDocument>
  readonly suppressions: Collection<SuppressionDocument>
  readonly deadLetters: Collection<DeadLetterDocument>
  readonly inbox: Collection<InboxDocument>
  readonly inboxBodies: Collection<InboxBodyDocument>
  readonly inboxReplays: Collection<InboxReplayDocument>
  readonly sweeps: Collection<SweepDocument>
  readonly dailyTotals: Collection<DailyTotalsDocument>
  readonly projectTotals: Collection<ProjectTotalsDocument>
  readonly expectedChangeUses: Collection<ExpectedChangeUsesDocument>
}

export const BOOTSTRAP_KEY = 'bootstrap-key-of-the-tests-0123456789'
export const MAIL_EVENTS_TOKEN = 'mail-events-token-of-the-tests'
/** The token before the rotation. */
export const PREVIOUS_MAIL_EVENTS_TOKEN = 'previous-mail-events-token'
export const CONSOLE_URL = 'https://console.example.test'
export const INGRESS_URL = 'https://in.example.test'

export const secretBoxOfTests = createSecretBox(
  parseKeyRing(new Secret(`k1:${Buffer.alloc(32, 7).toString('base64')}`)),
)

/** A network policy that blocks only malformed URLs and URLs containing "blocked". */
export const egressOfTests: Pick<Egress, 'checkUrl' | 'request'> = {
  checkUrl: url => checkUrlOfTests(url),
  // Tests send no requests to other hosts.
  request: async () => Promise.reject(blockedUrl()),
}

function checkUrlOfTests(url: string): AppError | undefined {
  if (url.includes('blocked')) return blockedUrl()
  if (URL.canParse(url)) return undefined
  return new AppError('egress_blocked', 'The URL cannot be parsed', { details: { reason: 'malformed' } })
}

function blockedUrl() {
  const details = { reason: 'literal_address' }
  return new AppError('egress_blocked', 'The URL points to an address that may not be reached from here', { details })
}

/** Settings that a test may override. */
export type TestSettings = Partial<Omit<AdminSettings, 'sockets'>> & {
  readonly sockets?: Partial<AdminSettings['sockets']>
}

const nothing = { count: 0, oldestMs: 0 }
/** An installation in which nothing waits. */
export const idleInstallation: InstallationReaders = {
  undecided: async () => ({ ...nothing, overdue: 0, waiting: 0 }),
  incidents: async () => [],
  stormsOpen: async () => 0,
  connections: async () => ({ counts: [], keyRejected: 0, unreadable: 0, silent: 0, sweepAgeMs: 0 }),
  deadLetters: async () => [],
  deliveries: async () => ({ pending: nothing, retrying: nothing, dead: nothing }),
  channels: async () => [],
  outboxes: async () => [],
}

/** Creates the app over the given ports. All other ports stay inside the process. */
export function createTestApp(
  given: Pick<AdminPorts, 'stores'> & Partial<AdminPorts>,
  settings: TestSettings = {},
): AdminApp {
  const { clock = systemClock } = given
  const ports: AdminPorts = {
    bus: createMemoryBus({ clock }),
    clock,
    openBooks: options => openMemoryBooks(options),
    codec: createFixedCodec(),
    secretBox: secretBoxOfTests,
    egress: egressOfTests,
    logger: createLogger('admin-api', 'silent'),
    metrics: createMetrics('admin-api'),
    showKey: () => {},
    expiredSecrets: createMemoryExpiredSecrets(given.stores),
    changeFeed: given.changeFeed ?? memoryChangeFeedOf(given.stores),
    installation: given.installation ?? idleInstallation,
    search: given.search ?? createMemorySearchIndex(given.stores as Partial<MemoryStores>),
    ...given,
  }
  const sockets = { maxSockets: 1_000, maxPerAddress: 500, isTrustedProxy: () => false, ...settings.sockets }
  return createApp(ports, {
    host: '127.0.0.1',
    port: 0,
    ingressPublicUrl: INGRESS_URL,
    publicUrl: CONSOLE_URL,
    oidc: undefined,
    brandName: 'Backstop',
    consolePublicUrl: null,
    consoleFolder: '/nowhere',
    mailEventsToken: new Secret(`${MAIL_EVENTS_TOKEN},${PREVIOUS_MAIL_EVENTS_TOKEN}`),
    bootstrapApiKey: new Secret(BOOTSTRAP_KEY),
    sesTopicArns: [],
    apiBaseHosts: [],
    channelHosts: [],
    bodiesMaxBytes: 16_777_216,
    // The tests of one file send more requests in a minute than one client may.
    rateLimits: { perKey: 1_000_000, perAddress: 1_000_000 },
    ...settings,
    sockets,
  })
}

/** Starts the API over the given parts, with stand-ins for the reconciler and the notifier. */
export async function startTestApi(
  parts: Pick<AdminPorts, 'stores' | 'openBooks'> & {
    readonly expiredSecrets?: ExpiredSecrets
    readonly changeFeed?: ChangeFeed
    readonly search?: SearchIndex
    readonly installation?: InstallationReaders
    readonly egress?: AdminPorts['egress']
    readonly others: OtherServicesCollections
    readonly bus: Bus
    readonly codec?: MessageCodec
    readonly dump: () => Promise<string>
    readonly settings?: TestSettings
    readonly onStop?: () => Promise<void>
  },
): Promise<TestApi> {
  const log: string[] = []
  const logger = createLogger('admin-api', 'debug', { write: line => void log.push(line) })
  const codec = parts.codec ?? createFixedCodec()
  let ahead = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + ahead }
  const { bus, stores, openBooks, settings } = parts
  const { expiredSecrets = createMemoryExpiredSecrets(stores) } = parts
  const { changeFeed = memoryChangeFeedOf(stores) } = parts
  const { search = createMemorySearchIndex(stores as Partial<MemoryStores>), egress = egressOfTests } = parts
  const { installation = idleInstallation } = parts
  const given = {
    search,
    installation,
    changeFeed,
    egress,
    bus,
    codec,
    clock,
    stores,
    expiredSecrets,
    openBooks,
    logger,
  }
  const app = createTestApp(given, settings)
  const listeners = await startStandIns(parts.bus, codec, clock, parts.others)
  await app.start()
  const url = `http://127.0.0.1:${app.port()}`
  const transcript: Transcript = []
  const api = createApiClient(url, BOOTSTRAP_KEY, transcript)
  await until('the API to be ready', async () => app.unready() === undefined)
  return {
    app,
    api,
    stores,
    expiredSecrets,
    others: parts.others,
    log,
    transcript,
    dump: parts.dump,
    advanceClock: ms => {
      ahead += ms
    },
    now: () => clock.now(),
    ...listeners.views,
    async stop() {
      await app.stop()
      await listeners.stop()
      await parts.onStop?.()
    },
  }
}

/** Starts the API with all stores in memory. */
export function startMemoryApi(
  settings: TestSettings = {},
  ports: Partial<Pick<AdminPorts, 'egress'>> = {},
): Promise<TestApi> {
  const stores = createMemoryStores()
  const bus = createMemoryBus({ clock: systemClock })
  const openBooks: AdminPorts['openBooks'] = options =>
    openMemoryBooks(options, async id => approvalPolicyOf(await stores.projects.find({ _id: id })))
  const { transaction: _, ...others } = stores
  const collections: readonly { findAll(where: object): Promise<unknown[]> }[] = Object.values(others)
  const dump = async () => JSON.stringify(await Promise.all(collections.map(collection => collection.findAll({}))))
  return startTestApi({ stores, others: stores, bus, dump, settings, openBooks, ...ports })
}

/** Stands in for the notifier, and collects the published messages. */
async function startStandIns(bus: Bus, codec: MessageCodec, clock: Clock, others: OtherServicesCollections) {
  const operations: Operation[] = []
  const requests: DeliveryDocument[] = []
  const commands: Command[] = []
  const alerts: Alert[] = []
  let answer: Partial<DeliveryAttempt> | undefined = {}
  const producer = bus.producer({ sendTimeoutMs: 5_000 })
  await producer.start()
  const loop = createWorkLoop({
    bus,
    producer,
    codec,
    clock,
    logger: createLogger('stand-in', 'silent'),
    metrics: createConsumerMetrics(createMetrics('stand-in')),
    groupId: 'stand-in',
    topics: { operations: 'operation', alerts: 'alert', deliveries: 'delivery-request', commands: 'command' },
    deadTopic: 'deliveries.dead',
    async handle(messages) {
      for (const received of messages) {
        if (received.name === 'operation') operations.push(received.message)
        else if (received.name === 'alert') alerts.push(received.message)
        else if (received.name === 'command') {
          commands.push(received.message)
          if (answer !== undefined) await applyCommand(received.message, others)
        } else if (answer !== undefined) {
          const document = attemptedDelivery(received.message, answer, clock.now())
          requests.push(document)
          await others.deliveries.put(document)
        }
      }
    },
    onFatal: error => {
      throw error
    },
  })
  await loop.start()
  const views = {
    commands,
    alerts: (projectId: string) => alerts.filter(({ project_id }) => project_id === projectId),
    published: (operationId: string) => operations.filter(({ operation_id }) => operation_id === operationId),
    requested: (channelId: string) => requests.filter(({ channel_id }) => channel_id === channelId),
    setReceiverAnswer: (attempt: Partial<DeliveryAttempt> | undefined) => {
      answer = attempt
    },
  }
  return {
    views,
    async stop() {
      await loop.stop()
      await producer.stop()
    },
  }
}

/** Applies the effects of a command that answers of the API wait for. */
async function applyCommand(command: Command, others: OtherServicesCollections): Promise<void> {
  const { channelHealth, suppressions } = others
  if (command.kind === 'change_incident') await changeIncident(command, others)
  if (command.kind === 'change_incidents') await others.incidentBulks.put(finishedBulk(command))
  if (command.kind === 'enable_channel') {
    const forgiven = { disabled_at: null, disabled_reason: null, disabled_incident_id: null, failing_since: null }
    await channelHealth.change({ _id: command.channel_id }, forgiven)
  }
  if (!('address' in command)) return
  const { project_id, address } = command
  const _id = `${project_id}/${address}`
  const at = new Date(command.requested_at)
  if (command.kind === 'unsuppress_address') await suppressions.remove({ _id })
  if (command.kind !== 'suppress_address') return
  const { reason, detail } = command
  await suppressions.insert({
    _id,
    project_id,
    address,
    reason,
    detail,
    soft_bounces: [],
    suppressed_at: at,
    updated_at: at,
  })
}

/** Stands in for the reconciler: the bulk change is done, and changed seven incidents. */
function finishedBulk({
  bulk_id: _id,
  project_id,
  selection,
  change,
  actor,
  requested_at,
}: Extract<Command, { kind: 'change_incidents' }>): IncidentBulkDocument {
  const at = new Date(requested_at)
  const progress = { state: 'done', changed: 7, refused: 1, cursor: null, version: 2 } as const
  return { _id, project_id, selection, change, actor, ...progress, next_page_at: at, requested_at: at, finished_at: at }
}

/** Stands in for the reconciler: changes the state of an incident, or refuses a change that its state does not allow. */
async function changeIncident(
  { command_id, project_id, incident_id, change, actor, requested_at }: Extract<Command, { kind: 'change_incident' }>,
  { incidents, incidentOutcomes }: OtherServicesCollections,
): Promise<void> {
  const known = await incidents.find({ _id: incident_id, project_id })
  const allowed = { acknowledge: ['open'], resolve: ['open', 'acknowledged'], reopen: ['resolved'] }
  const isRefused =
    known === undefined || (change.kind in allowed && !allowed[change.kind as 'reopen'].includes(known.state))
  if (!isRefused) {
    await incidents.change(
      { _id: incident_id },
      {
        ...(change.kind === 'acknowledge' ? { state: 'acknowledged', acknowledged_by: actor.name } : {}),
        ...(change.kind === 'resolve'
          ? { state: 'resolved', resolved_by: actor.name, reason: change.reason, note: change.note }
          : {}),
        ...(change.kind === 'reopen' ? { state: 'open', resolved_by: null, reopened: (known.reopened ?? 0) + 1 } : {}),
        ...(change.kind === 'assign' ? { assignee: change.assignee } : {}),
        changes: [
          ...(known.changes ?? []),
          {
            at: requested_at,
            what: 'incident_commented',
            id: incident_id,
            text: JSON.stringify(change),
            by: actor,
            command_id,
            version: known.version + 1,
          },
        ],
        version: known.version + 1,
      },
    )
  }
  await incidentOutcomes.put({
    _id: command_id,
    project_id,
    incident_id,
    outcome: isRefused ? 'refused' : 'changed',
    reason: isRefused ? 'state' : null,
    detail: isRefused ? `The incident was ${known?.state} by ${actor.name}` : null,
    at: new Date(requested_at),
  })
}

function attemptedDelivery(request: DeliveryRequest, answer: Partial<DeliveryAttempt>, now: number): DeliveryDocument {
  const at = new Date(now)
  const attempt: DeliveryAttempt = {
    attempt: request.attempt,
    at,
    duration_ms: 12.4,
    outcome: 'delivered',
    status: 200,
    error: null,
    response: 'ok',
    ...answer,
  }
  return {
    _id: request.delivery_id,
    project_id: request.project_id,
    channel_id: request.channel_id,
    channel_kind: 'webhook',
    alert_id: request.alert.alert_id,
    event: request.alert.event,
    test: request.test,
    state: attempt.outcome === 'delivered' ? 'delivered' : 'dead',
    reason: '',
    attempts: [attempt],
    next_attempt: null,
    alert: request.alert,
    created_at: at,
    updated_at: at,
  }
}
