import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Bus,
  ByteBudget,
  type Clock,
  createHostList,
  createPeriodic,
  type Egress,
  type Logger,
  listen,
  type MessageCodec,
  type Metrics,
  type Periodic,
  type Producer,
  type Secret,
  type SecretBox,
  type SocketLimitOptions,
} from '@backstop/kit'
import { type OpenBooks, publishLedger } from '@backstop/ledger'
import { createRefusalAudit } from './access/audit-refusals.ts'
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
}

export interface AdminSettings {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** Base URL at which providers reach ingress: the start of the `inbound_url` of each connection. */
  readonly ingressPublicUrl: string
  /** The name that messages carry where a project has none of its own. */
  readonly brandName: string
  /** The first API key, as the operator chose it; without it one is generated. */
  readonly bootstrapApiKey: Secret | undefined
  /** In the path of mail providers' reports; without it, reports are refused. */
  readonly mailEventsToken: Secret | undefined
  /** SNS topics whose messages are accepted. */
  readonly sesTopicArns: readonly string[]
  /** Hosts that an `api_base` may name beside the provider's own (createHostList). */
  readonly apiBaseHosts: readonly string[]
  /** Hosts that a Slack channel may name beside Slack's own. */
  readonly slackHosts: readonly string[]
  /** Upper limit for how long a route waits for the result of a command, in milliseconds; left out, the route's own limit holds. */
  readonly outcomeWaitMs?: number
  /** Bytes of request bodies held at once, over all requests. */
  readonly bodiesMaxBytes: number
  readonly sockets: Pick<SocketLimitOptions, 'maxSockets' | 'maxPerAddress' | 'isTrustedProxy'>
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
const ERASE_EVERY_MS = 600_000

/** Wires the management API from its ports: HTTP in front, the ledger and its outbox behind. Nothing runs before `start`. */
export function createApp(ports: AdminPorts, settings: AdminSettings): AdminApp {
  const { stores, codec, clock, logger } = ports
  const producer = ports.bus.producer({ sendTimeoutMs: SEND_TIMEOUT_MS })
  const { outboxSweeper, ...books } = publishLedger({ open: ports.openBooks, producer, encoder: codec, clock, logger })
  const routes = allRoutes(createParts(ports, settings, producer, books))
  const eraser = createSecretEraser(ports)
  const refusals = createRefusalAudit(stores.audit, { clock, logger })
  const stopping = new AbortController()
  const { server, stop: stopServer } = createApiServer({
    routes,
    stores,
    secretBox: ports.secretBox,
    clock,
    bodies: new ByteBudget(settings.bodiesMaxBytes),
    refusals,
    sockets: settings.sockets,
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
      if (!server.listening) return 'The API is not listening yet'
      // Not ready until the first API key is stored: a client would get 401 for it.
      return knowsFirstKey ? undefined : 'The first API key is not stored yet'
    },
    async start() {
      await producer.start()
      outboxSweeper.start()
      eraser.start()
      refusals.start()
      const options = { apiKeys: stores.apiKeys, clock, logger, chosen: settings.bootstrapApiKey, show: ports.showKey }
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

function createParts(
  { stores, codec, clock, secretBox, egress }: AdminPorts,
  settings: AdminSettings,
  producer: Producer,
  books: Pick<AdminParts, 'ledger' | 'budgets' | 'runs'>,
): AdminParts {
  const outcomes = createOutcomeWatcher(clock, settings.outcomeWaitMs)
  return {
    stores,
    ...books,
    secretBox,
    channelTester: createChannelTester({ producer, codec, deliveries: stores.deliveries, outcomes, clock }),
    outcomes,
    commands: createCommandSender({ producer, codec }),
    deadLetters: createDeadLetterSender(producer),
    brandName: settings.brandName,
    mailEvents: {
      token: settings.mailEventsToken,
      sns: createSnsVerifier({ egress, topicArns: settings.sesTopicArns }),
    },
    checkUrl: url => egress.checkUrl(url),
    apiBaseHosts: createHostList(settings.apiBaseHosts),
    slackHosts: createHostList(settings.slackHosts),
    ingressPublicUrl: settings.ingressPublicUrl,
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
