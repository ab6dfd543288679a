import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Bus, Producer } from '@backstop/kit/bus'
import { createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Secret } from '@backstop/kit/config'
import { createHostList, type Egress } from '@backstop/kit/egress'
import { ByteBudget, type SocketLimitOptions } from '@backstop/kit/http'
import { listen } from '@backstop/kit/ops'
import type { MessageCodec } from '@backstop/kit/registry'
import type { Tracing } from '@backstop/kit/tracing'
import { type OpenBooks, type PublishedLedger, publishLedger } from '@backstop/ledger'
import { createRefusalAudit } from './access/audit-refusals.ts'
import { authenticateKey } from './access/authenticate.ts'
import type { RateLimits } from './access/rate-limiter.ts'
import { createUseRecorder, type UseRecorder } from './access/use-recorder.ts'
import { createChannelTester } from './commands/channel-tester.ts'
import { createCommandSender, createDeadLetterSender, createOutcomeWatcher } from './commands/command-sender.ts'
import { serveConsole } from './console/serve-console.ts'
import { createHeartbeat, type HeartbeatSettings } from './heartbeat/heartbeat.ts'
import { createApiServer } from './http/server.ts'
import { createIdentityProvider, type OidcSettings } from './oidc/identity-provider.ts'
import type { AdminParts } from './parts.ts'
import { keepTryingBootstrap } from './resources/api-keys/bootstrap-key.ts'
import { createExpiryWarner, createRecoveryReporter } from './resources/api-keys/warn-of-expiry.ts'
import { type AuditChainer, createAuditChainer } from './resources/audit/chain-rows.ts'
import type { ExpiredSecrets } from './resources/connections/expired-secrets.ts'
import { CALLBACK_PATH } from './resources/oidc-sign-in/oidc-sign-in.ts'
import { auditErasures } from './resources/person-erasures/audit-erasures.ts'
import { allRoutes } from './resources/routes.ts'
import { createSnsVerifier } from './sns/sns.ts'
import { hideHeartbeat } from './store/hide-heartbeat.ts'
import { signAuditRows } from './store/sign-audit-rows.ts'
import type { AdminStores } from './store/stores.ts'

/** The connections and stores that admin-api uses. Tests pass parts in memory. */
export interface AdminPorts
  extends Pick<AdminParts, 'changeFeed' | 'search' | 'installation' | 'secretBox' | 'clock' | 'logger' | 'metrics'> {
  readonly bus: Bus
  readonly codec: MessageCodec
  readonly stores: AdminStores
  readonly expiredSecrets: ExpiredSecrets
  /** Opens the ledger of operations and budgets over its store. */
  readonly openBooks: OpenBooks
  /** Why this process must change nothing now, such as a missing unique index; undefined if it may. */
  refusesChanges?(): string | undefined
  readonly egress: Pick<Egress, 'checkUrl' | 'request'>
  /** Undefined if traces are off. */
  readonly tracing?: Tracing | undefined
  /** Shows the first API key once, if it was generated. */
  readonly showKey: (key: Secret) => void
}

export interface AdminSettings
  extends Pick<AdminParts, 'ingressPublicUrl' | 'publicUrl' | 'brandName' | 'consolePublicUrl' | 'archiveAfterDays'> {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** How people sign in with OpenID Connect; undefined if they do not. */
  readonly oidc: OidcSettings | undefined
  /** The folder of the built console. */
  readonly consoleFolder: string
  /** The first API key, if the operator chose it; if undefined, a key is generated. */
  readonly bootstrapApiKey: Secret | undefined
  /** The token in the URL at which mail providers report. If undefined, their reports are refused. */
  readonly mailEventsToken: Secret | undefined
  /** SNS topics whose messages are accepted. */
  readonly sesTopicArns: readonly string[]
  /** Hosts that an `api_base` may name in addition to the provider's own (createHostList). */
  readonly apiBaseHosts: readonly string[]
  /** Hosts that channels may name in addition to those of their service, for example Slack. */
  readonly channelHosts: readonly string[]
  /** Shortens the time that a route waits for the result of a command, in milliseconds. If undefined, the route's own limit applies. */
  readonly outcomeWaitMs?: number
  /** Limit for the bytes of all request bodies in memory. */
  readonly bodiesMaxBytes: number
  readonly sockets: Pick<SocketLimitOptions, 'maxSockets' | 'maxPerAddress' | 'isTrustedProxy'>
  readonly rateLimits: RateLimits
  /** Undefined: no heartbeats. */
  readonly heartbeat?: HeartbeatSettings | undefined
}

export interface AdminApp {
  start(): Promise<void>
  /** Stops accepting requests, finishes the requests in flight and publishes their messages. */
  stop(): Promise<void>
  /**
   * Returns why the API is not ready for its first request, or undefined if it is ready. A later outage of the database does not make it
   * unready.
   */
  unready(): string | undefined
  /** The port that the API listens on, after `start`. */
  port(): number
  /** The routes that the server serves, for tests that check the route table. */
  readonly routes: ReturnType<typeof allRoutes>
}

/** The outbox sweeper sends messages whose first send takes longer. */
const SEND_TIMEOUT_MS = 3_000
/** How long requests in flight may take to finish when the process stops, in milliseconds. */
const DRAIN_MS = 15_000
const CLOSE_IDLE_EVERY_MS = 50
const ERASE_EVERY_MS = 600_000

/** Builds the management API from its ports. Nothing runs before `start`. */
export function createApp(given: AdminPorts, settings: AdminSettings): AdminApp {
  const ports: AdminPorts = { ...given, stores: signAuditRows(given.stores, given.secretBox) }
  const { stores, codec, clock, logger } = ports
  const auditChainer = createAuditChainer({ ...given, keys: given.secretBox })
  const producer = ports.bus.producer({ sendTimeoutMs: SEND_TIMEOUT_MS })
  const { announcer, ...books } = publishLedger({
    open: ports.openBooks,
    // The rows are signed by the process that made them.
    insertAuditRows: rows => Promise.all(rows.map(row => given.stores.audit.insert(row))),
    producer,
    encoder: codec,
    clock,
    logger,
  })
  const stopping = new AbortController()
  const uses = createUseRecorder({ clock, logger })
  const running = { stopping: stopping.signal, uses, auditChainer, announcer }
  const parts = createParts(ports, settings, producer, books, running)
  const routes = allRoutes(parts)
  const expiryWarner = createExpiryWarner({ stores, commands: parts.commands, clock, logger })
  const timers = [
    createRecoveryReporter({ stores, commands: parts.commands, clock, logger }),
    createHeartbeat(ports, settings.heartbeat),
    createSecretEraser(ports),
    createErasureAudit(ports),
    expiryWarner,
    auditChainer,
  ]
  const refusals = createRefusalAudit(stores, { clock, logger })
  const { server, stop: stopServer } = createApiServer({
    routes,
    stores,
    secretBox: ports.secretBox,
    refusesChanges: () => ports.refusesChanges?.(),
    clock,
    bodies: new ByteBudget(settings.bodiesMaxBytes),
    refusals,
    uses,
    sockets: settings.sockets,
    rateLimits: settings.rateLimits,
    publicUrl: settings.publicUrl,
    serveConsole: serveConsole({ folder: settings.consoleFolder, hasOidc: settings.oidc !== undefined, clock }),
    logger,
    metrics: ports.metrics,
    tracing: ports.tracing,
    stopping: stopping.signal,
  })
  let bootstrap: Promise<void> = Promise.resolve()
  let hasFirstKey = false

  return {
    routes,
    port: () => (server.address() as AddressInfo).port,
    unready() {
      if (!server.listening) return 'The API is not listening yet'
      // Not ready until the first API key is stored: until then a client with this key would get 401.
      return hasFirstKey ? undefined : 'The first API key is not stored yet'
    },
    async start() {
      await producer.start()
      for (const timer of [announcer, ...timers]) timer.start()
      refusals.start()
      uses.start()
      const options = { apiKeys: stores.apiKeys, clock, logger, chosen: settings.bootstrapApiKey, show: ports.showKey }
      bootstrap = keepTryingBootstrap(options, stopping.signal).then(isDone => {
        hasFirstKey = isDone
      })
      await listen(server, settings.port, settings.host)
    },
    async stop() {
      stopping.abort()
      await Promise.all([closeServer(server), ...timers.map(timer => timer.stop()), bootstrap])
      stopServer()
      await Promise.all([refusals.stop(), uses.stop(), announcer.stop()])
      await producer.stop()
    },
  }
}

function createParts(
  { stores, codec, clock, secretBox, egress, logger, metrics, changeFeed, search, installation }: AdminPorts,
  settings: AdminSettings,
  producer: Producer,
  books: Pick<AdminParts, 'ledger' | 'budgets' | 'runs'>,
  {
    stopping,
    uses,
    auditChainer,
    announcer,
  }: {
    readonly stopping: AbortSignal
    readonly uses: UseRecorder
    readonly auditChainer: AuditChainer
    readonly announcer: PublishedLedger['announcer']
  },
): AdminParts {
  const outcomes = createOutcomeWatcher(clock, settings.outcomeWaitMs)
  return {
    stores: hideHeartbeat(stores),
    changeFeed,
    search,
    installation,
    clock,
    logger,
    metrics,
    stopping,
    ...books,
    secretBox,
    auditHead: () => auditChainer.seen(),
    flushAuditRows: () => announcer.flushAuditRows(),
    channelTester: createChannelTester({ producer, codec, deliveries: stores.deliveries, outcomes, clock }),
    outcomes,
    commands: createCommandSender({ producer, codec }),
    deadLetters: createDeadLetterSender(producer),
    brandName: settings.brandName,
    consolePublicUrl: settings.consolePublicUrl,
    mailEvents: {
      token: settings.mailEventsToken,
      sns: createSnsVerifier({ egress, topicArns: settings.sesTopicArns }),
    },
    checkUrl: url => egress.checkUrl(url),
    apiBaseHosts: createHostList(settings.apiBaseHosts),
    channelHosts: createHostList(settings.channelHosts),
    authenticateKey: (key, now) => authenticateKey(key, { stores, uses }, now),
    identityProvider:
      settings.oidc &&
      createIdentityProvider({
        settings: settings.oidc,
        redirectUri: settings.publicUrl.replace(/\/$/, '') + CALLBACK_PATH,
        egress,
        clock,
        logger,
      }),
    publicUrl: settings.publicUrl,
    ingressPublicUrl: settings.ingressPublicUrl,
    archiveAfterDays: settings.archiveAfterDays,
  }
}

function createSecretEraser({ expiredSecrets, clock, logger }: AdminPorts): Periodic {
  return createPeriodic({
    clock,
    pauseMs: ERASE_EVERY_MS,
    async run() {
      const documents = await expiredSecrets.erase(new Date(clock.now()))
      if (documents > 0) logger.info({ documents }, 'secrets.erased')
    },
    onFailure: error => logger.warn({ error }, 'secrets.not_erased'),
  })
}

function createErasureAudit({ stores, clock, logger }: AdminPorts): Periodic {
  return createPeriodic({
    clock,
    pauseMs: ERASE_EVERY_MS,
    run: async () => void (await auditErasures(stores, new Date(clock.now()))),
    onFailure: error => logger.warn({ error }, 'audit.erasures_not_stored'),
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise(resolve => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
    // server.close() closes only the connections that are idle at that moment. A connection in use becomes idle after its answer and
    // would stay open.
    const sweep = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
    server.close(() => {
      clearTimeout(cut)
      clearInterval(sweep)
      resolve()
    })
  })
}
