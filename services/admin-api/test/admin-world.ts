import type {
  ActionDocument,
  Alert,
  ChannelHealthDocument,
  Command,
  DeadLetterDocument,
  DeliveryAttempt,
  DeliveryDocument,
  DeliveryRequest,
  ExpectedChangeUsesDocument,
  InboxBodyDocument,
  InboxDocument,
  IncidentDocument,
  Operation,
  ReplayDocument,
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
import type { ExpiredSecrets } from '../src/resources/connections/expired-secrets.ts'
import type { Shelf } from '../src/store/shelf.ts'
import type { AdminStores } from '../src/store/stores.ts'
import { type ApiClient, createApiClient, type Transcript } from './api-client.ts'
import { createMemoryExpiredSecrets, createMemoryStores } from './memory-stores.ts'

/** The management API with everything around it that a test looks at or plays. */
export interface AdminWorld {
  readonly app: AdminApp
  /** A client with the bootstrap key. */
  readonly api: ApiClient
  readonly stores: AdminStores
  readonly expiredSecrets: ExpiredSecrets
  /** What others own, to be filled in their stead. */
  readonly others: Others
  /** Everything that the database holds, as text. */
  dump(): Promise<string>
  /** Moves the clock of the API on; it never goes back. */
  passTime(ms: number): void
  now(): number
  /** Every log line so far. */
  readonly log: readonly string[]
  /** Every answer so far. */
  readonly transcript: Transcript
  /** Every version of an operation that reached its topic. */
  published(operationId: string): readonly Operation[]
  /** Every alert of a project that reached its topic. */
  alerts(projectId: string): readonly Alert[]
  /** Every command that reached its topic. */
  readonly commands: readonly Command[]
  /** What the receiver answers to channel tests from now on; undefined: the notifier does not deliver, nor do as it is told. */
  receiverAnswers(attempt: Partial<DeliveryAttempt> | undefined): void
  /** The delivery requests that were produced for a channel. */
  requested(channelId: string): readonly DeliveryDocument[]
  stop(): Promise<void>
}

export interface Others {
  readonly actions: Shelf<ActionDocument>
  readonly incidents: Shelf<IncidentDocument>
  readonly deliveries: Shelf<DeliveryDocument>
  readonly channelHealth: Shelf<ChannelHealthDocument>
  readonly replays: Shelf<ReplayDocument>
  readonly suppressions: Shelf<SuppressionDocument>
  readonly deadLetters: Shelf<DeadLetterDocument>
  readonly inbox: Shelf<InboxDocument>
  readonly inboxBodies: Shelf<InboxBodyDocument>
  readonly sweeps: Shelf<SweepDocument>
  readonly expectedChangeUses: Shelf<ExpectedChangeUsesDocument>
}

export const BOOTSTRAP_KEY = 'bootstrap-key-of-the-tests-0123456789'
export const MAIL_EVENTS_TOKEN = 'mail-events-token-of-the-tests'
export const INGRESS_URL = 'https://in.example.test'

export const secretBoxOfTests = createSecretBox(
  parseKeyRing(new Secret(`k1:${Buffer.alloc(32, 7).toString('base64')}`)),
)

/** URLs as the policy of production sees them, but for one host that it blocks by name. */
export const egressOfTests: Pick<Egress, 'checkUrl' | 'request'> = {
  checkUrl: url => (url.includes('blocked') ? blockedUrl() : undefined),
  // Nothing of the outside is there for a test.
  request: async () => Promise.reject(blockedUrl()),
}

function blockedUrl() {
  return new AppError('egress_blocked', 'The URL points to an address that may not be reached from here')
}

/** Settings that a test changes. */
export type TestSettings = Partial<Omit<AdminSettings, 'sockets'>> & {
  readonly sockets?: Partial<AdminSettings['sockets']>
}

/** The app over the given ports; every other port stays inside the process. */
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
    ...given,
  }
  const sockets = { maxSockets: 1_000, maxPerAddress: 500, isTrustedProxy: () => false, ...settings.sockets }
  return createApp(ports, {
    host: '127.0.0.1',
    port: 0,
    ingressPublicUrl: INGRESS_URL,
    brandName: 'Backstop',
    mailEventsToken: new Secret(MAIL_EVENTS_TOKEN),
    bootstrapApiKey: new Secret(BOOTSTRAP_KEY),
    sesTopicArns: [],
    apiBaseHosts: [],
    slackHosts: [],
    bodiesMaxBytes: 16_777_216,
    ...settings,
    sockets,
  })
}

/** Starts the API over the given parts, with stand-ins for the reconciler and the notifier. */
export async function openWorld(
  parts: Pick<AdminPorts, 'stores' | 'openBooks'> & {
    readonly expiredSecrets?: ExpiredSecrets
    readonly others: Others
    readonly bus: Bus
    readonly codec?: MessageCodec
    readonly dump: () => Promise<string>
    readonly settings?: TestSettings
    readonly onStop?: () => Promise<void>
  },
): Promise<AdminWorld> {
  const log: string[] = []
  const logger = createLogger('admin-api', 'debug', { write: line => void log.push(line) })
  const codec = parts.codec ?? createFixedCodec()
  let ahead = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + ahead }
  const { bus, stores, openBooks, settings } = parts
  const { expiredSecrets = createMemoryExpiredSecrets(stores) } = parts
  const given = { bus, codec, clock, stores, expiredSecrets, openBooks, logger }
  const app = createTestApp(given, settings)
  const listeners = await listen(parts.bus, codec, clock, parts.others)
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
    passTime: ms => {
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

/** All in memory: for tests that need nothing. */
export function openMemoryWorld(settings: TestSettings = {}): Promise<AdminWorld> {
  const stores = createMemoryStores()
  const bus = createMemoryBus({ clock: systemClock })
  const openBooks: AdminPorts['openBooks'] = options =>
    openMemoryBooks(options, async id => approvalPolicyOf(await stores.projects.find({ _id: id })))
  const { together: _, ...others } = stores
  const shelves: readonly { findAll(where: object): Promise<unknown[]> }[] = Object.values(others)
  const dump = async () => JSON.stringify(await Promise.all(shelves.map(shelf => shelf.findAll({}))))
  return openWorld({ stores, others: stores, bus, dump, settings, openBooks })
}

/** Plays the notifier for channel tests and commands, and keeps what reached the topic of operations. */
async function listen(bus: Bus, codec: MessageCodec, clock: Clock, others: Others) {
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
          if (answer !== undefined) await doCommand(received.message, others)
        } else if (answer !== undefined) {
          const document = deliveryOf(received.message, answer, clock.now())
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
    receiverAnswers: (attempt: Partial<DeliveryAttempt> | undefined) => {
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

/** What the notifier would have made of it, as far as answers wait for it. */
async function doCommand(command: Command, { channelHealth, suppressions }: Others): Promise<void> {
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

function deliveryOf(request: DeliveryRequest, answer: Partial<DeliveryAttempt>, now: number): DeliveryDocument {
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
