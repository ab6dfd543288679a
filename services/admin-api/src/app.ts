import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Bus,
  ByteBudget,
  type Clock,
  createHostList,
  createNetworkMatcher,
  createPeriodic,
  type Egress,
  type Logger,
  listen,
  type MessageCodec,
  type Metrics,
  type Secret,
  type SecretBox,
} from '@backstop/kit'
import { type OpenBooks, publishLedger } from '@backstop/ledger'
import { createRefusalAudit } from './http/audit-refusals.ts'
import { createApiServer } from './http/server.ts'
import { createChannelTester } from './messages/channel-tester.ts'
import { createCommandSender } from './messages/command-sender.ts'
import { createDeadLetterSender } from './messages/dead-letter-sender.ts'
import { createOutcomeWatcher } from './messages/outcome-watcher.ts'
import type { AdminParts } from './parts.ts'
import { keepTryingBootstrap } from './resources/api-keys/bootstrap-key.ts'
import type { ExpiredSecrets } from './resources/connections/expired-secrets.ts'
import { allRoutes } from './resources/routes.ts'
import { createSnsVerifier } from './sns/sns.ts'
import type { AdminStores } from './store/stores.ts'

/** Everything outside admin-api that it touches. */
export interface AdminPorts {
  readonly bus: Bus
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly stores: AdminStores
  readonly expiredSecrets: ExpiredSecrets
  /** The ledger's books over their store. */
  readonly openBooks: OpenBooks
  readonly secretBox: SecretBox
  readonly egress: Pick<Egress, 'checkUrl' | 'request'>
  readonly logger: Logger
  readonly metrics: Metrics
  /** Shows the first API key, if one is made, once. */
  readonly showKey: (key: Secret) => void
  readonly settings: {
    readonly host: string
    /** 0 picks a free one. */
    readonly port: number
    readonly ingressPublicUrl: string
    /** The name that messages carry where a project has none of its own. */
    readonly brandName: string
    readonly bootstrapApiKey: Secret | undefined
    /** In the path of mail providers' reports; none are taken without it. */
    readonly mailEventsToken?: Secret | undefined
    /** Topics of SNS whose messages are taken; none when left out. */
    readonly sesTopicArns?: readonly string[]
    /** Hosts that an api_base may name beside the provider's own (createHostList). */
    readonly apiBaseHosts?: readonly string[]
    /** Hosts that a Slack channel may name beside Slack's own. */
    readonly slackHosts?: readonly string[]
    /** What other services make of a wish is waited for no longer than this, in milliseconds; as the route says when left out. */
    readonly outcomeWaitMs?: number
    /** Bytes of bodies that are held at once, over all requests; the setting's default when left out. */
    readonly bodiesMaxBytes?: number
    /** Open TCP connections of clients, all together and of one address; the settings' defaults when left out. */
    readonly maxSockets?: number
    readonly maxSocketsPerAddress?: number
    /** Networks of the proxies whose X-Forwarded-For is believed; none when left out. */
    readonly trustedProxyCidrs?: readonly string[]
  }
}

export interface AdminApp {
  start(): Promise<void>
  /** Takes no new request, finishes those at work, publishes what they caused. */
  stop(): Promise<void>
  /** Why no request should be sent here yet, or undefined. Whether the database answers now is not part of it. */
  unready(): string | undefined
  /** The port that the API listens on, once it is started. */
  port(): number
  /** The API's server, for tests that look at what is mounted. */
  readonly routes: ReturnType<typeof allRoutes>
}

/** A send that takes longer is the sweeper's: nobody who reports an operation is to wait for a broker that is away. */
const SEND_TIMEOUT_MS = 3_000
/** How long requests at work may take to finish when the process stops. */
const DRAIN_MS = 15_000
const CLOSE_IDLE_EVERY_MS = 50
/** What fits into a pod of 512 MiB beside the process itself. */
export const LIMITS = { bodiesMaxBytes: 16_777_216, maxSockets: 1_000, maxSocketsPerAddress: 500 } as const
const ERASE_EVERY_MS = 600_000

/** The management API: HTTP in front, the ledger and its outbox behind. */
export function createAdminApp(ports: AdminPorts): AdminApp {
  const { clock, logger, settings } = ports
  const producer = ports.bus.producer({ sendTimeoutMs: SEND_TIMEOUT_MS })
  const { ledger, budgets, runs, outboxSweeper } = publishLedger({
    open: ports.openBooks,
    producer,
    encoder: ports.codec,
    clock,
    logger,
  })
  const outcomes = createOutcomeWatcher(clock, settings.outcomeWaitMs)
  const parts: AdminParts = {
    stores: ports.stores,
    ledger,
    budgets,
    runs,
    secretBox: ports.secretBox,
    channelTester: createChannelTester({
      producer,
      codec: ports.codec,
      deliveries: ports.stores.deliveries,
      outcomes,
      clock,
    }),
    outcomes,
    commands: createCommandSender({ producer, codec: ports.codec }),
    deadLetters: createDeadLetterSender(producer),
    brandName: settings.brandName,
    mailEvents: {
      token: settings.mailEventsToken,
      sns: createSnsVerifier({ egress: ports.egress, topicArns: settings.sesTopicArns ?? [] }),
    },
    checkUrl: url => ports.egress.checkUrl(url),
    apiBaseHosts: createHostList(settings.apiBaseHosts ?? []),
    slackHosts: createHostList(settings.slackHosts ?? []),
    ingressPublicUrl: settings.ingressPublicUrl,
  }
  const routes = allRoutes(parts)
  const eraser = createPeriodic({
    clock,
    pauseMs: ERASE_EVERY_MS,
    async run() {
      const documents = await ports.expiredSecrets.erase(new Date(clock.now()))
      if (documents > 0) logger.info({ documents }, 'secrets.erased')
    },
    onFailure: error => logger.warn({ error }, 'secrets.not_erased'),
  })
  const refusals = createRefusalAudit(ports.stores.audit, { clock, logger })
  const stopping = new AbortController()
  const { server, stop: stopServer } = createApiServer({
    routes,
    parts,
    stores: ports.stores,
    clock,
    bodies: new ByteBudget(settings.bodiesMaxBytes ?? LIMITS.bodiesMaxBytes),
    refusals,
    sockets: {
      maxSockets: settings.maxSockets ?? LIMITS.maxSockets,
      maxPerAddress: settings.maxSocketsPerAddress ?? LIMITS.maxSocketsPerAddress,
      isTrustedProxy: createNetworkMatcher(settings.trustedProxyCidrs ?? []),
    },
    logger,
    metrics: ports.metrics,
    stopping: stopping.signal,
  })
  let bootstrap: Promise<void> = Promise.resolve()
  let knowsFirstKey = false

  return {
    routes,
    port: () => (server.address() as AddressInfo).port,
    unready() {
      if (!server.listening) return 'It does not listen'
      // Not ready until the first API key is stored: a client would get 401 for it.
      return knowsFirstKey ? undefined : 'The first API key is not stored yet'
    },
    async start() {
      await producer.start()
      outboxSweeper.start()
      eraser.start()
      refusals.start()
      const { apiKeys } = ports.stores
      const options = { apiKeys, clock, logger, chosen: settings.bootstrapApiKey, show: ports.showKey }
      bootstrap = keepTryingBootstrap(options, stopping.signal).then(isDone => {
        knowsFirstKey = isDone
      })
      await listen(server, settings.port, settings.host)
    },
    async stop() {
      stopping.abort()
      await Promise.all([closeServer(server), outboxSweeper.stop(), eraser.stop(), bootstrap])
      stopServer()
      await refusals.stop()
      await producer.stop()
    },
  }
}

function closeServer(server: Server): Promise<void> {
  return new Promise(resolve => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
    // Node closes the idle connections of that moment; one that is at work becomes idle, and stays, when it is answered.
    const sweep = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
    server.close(() => {
      clearTimeout(cut)
      clearInterval(sweep)
      resolve()
    })
  })
}
