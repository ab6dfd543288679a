import {
  commonSettings,
  createNetworkMatcher,
  type Environment,
  keyRingSetting,
  readServiceConfig,
  setting,
  socketSettings,
} from '@backstop/kit'
import { PROVIDERS } from '@backstop/providers'
import { z } from 'zod'
import type { IngressSettings } from './app.ts'

const HEADER_NAME = /^[A-Za-z0-9-]+$/

/** A list of header names, in lower case because HTTP ignores their case. */
const headerNames = (defaults: readonly string[]) =>
  setting
    .list(defaults.join(','))
    .refine(
      names => names.length > 0 && names.every(name => HEADER_NAME.test(name)),
      'Give header names, comma-separated',
    )
    .transform(names => names.map(name => name.toLowerCase()))

/** The settings of ingress by their environment names. `.env.example` describes each setting. */
export const settings = {
  ...commonSettings,
  SECRET_KEYS: keyRingSetting(),
  PORT: setting.port(8080).describe('Port that providers post to; 0 picks a free one'),
  PROCESSOR_SIGNATURE_HEADERS: headerNames(PROVIDERS.processor.credentialHeaders).describe(
    "Headers that may carry the card processor's signature; a request must have exactly one of them",
  ),
  RESELLER_SIGNATURE_HEADERS: headerNames(PROVIDERS.reseller.credentialHeaders).describe(
    "Headers that may carry the reseller's signature; a request must have exactly one of them",
  ),
  PUBLISH_TIMEOUT_MS: setting
    .integer(2_500, 100, 2_900)
    .describe('How long an event may wait for the ack of Kafka before the answer is 503, in milliseconds'),
  PUBLISH_LINGER_MS: setting
    .integer(2, 0, 50)
    .describe('How long the first event of a batch waits for company, in milliseconds'),
  QUEUE_MAX_MESSAGES: setting.integer(10_000, 1, 1_000_000).describe('Events that may wait for their ack at once'),
  QUEUE_MAX_BYTES: setting
    .integer(67_108_864, 2_097_152, 4_294_967_296)
    .describe('Bytes of events that may wait for their ack at once'),
  BODIES_MAX_BYTES: setting
    .integer(67_108_864, 1_048_576, 4_294_967_296)
    .describe('Bytes of request bodies held in memory at once; beyond, the answer is 503'),
  BODY_TIMEOUT_MS: setting
    .integer(10_000, 100, 14_000)
    .describe('How long a body may take to arrive before its connection is cut, in milliseconds'),
  ...socketSettings,
  RATE_LIMIT_PER_S: setting
    .integer(500, 1, 1_000_000)
    .describe('Authentic events that one connection may send per second for long; beyond, the answer is 429'),
  RATE_LIMIT_BURST: setting
    .integer(5_000, 1, 10_000_000)
    .describe('Authentic events that one connection may send at once after a pause'),
  SHED_UTILIZATION: z.coerce
    .number()
    .min(0.5)
    .max(1)
    .default(0.95)
    .describe('Busy share of the event loop beyond which a loop that is also late refuses work, 0.5 to 1'),
  SHED_LAG_MS: setting
    .integer(200, 20, 10_000)
    .describe('99th percentile of event-loop lag beyond which work is refused, in milliseconds'),
  CONNECTIONS_RELOAD_MS: setting
    .integer(60_000, 1_000, 3_600_000)
    .describe('How often all connections are read again, as a net under the change stream, in milliseconds'),
} as const

export type IngressConfig = ReturnType<typeof readIngressConfig>

/** @throws AppError `config_invalid` that lists every invalid setting */
export function readIngressConfig(environment: Environment) {
  return readServiceConfig(settings, environment)
}

export function settingsOf(config: IngressConfig): IngressSettings {
  return {
    host: config.HOST,
    port: config.PORT,
    credentialHeaders: {
      processor: config.PROCESSOR_SIGNATURE_HEADERS,
      reseller: config.RESELLER_SIGNATURE_HEADERS,
      // HTTP itself defines the header of basic authentication.
      subscription: PROVIDERS.subscription.credentialHeaders,
    },
    publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
    lingerMs: config.PUBLISH_LINGER_MS,
    queueMaxMessages: config.QUEUE_MAX_MESSAGES,
    queueMaxBytes: config.QUEUE_MAX_BYTES,
    bodiesMaxBytes: config.BODIES_MAX_BYTES,
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    sockets: {
      maxSockets: config.MAX_SOCKETS,
      maxPerAddress: config.MAX_SOCKETS_PER_ADDRESS,
      isTrustedProxy: createNetworkMatcher(config.TRUSTED_PROXY_CIDRS),
    },
    rateLimit: { perSecond: config.RATE_LIMIT_PER_S, burst: config.RATE_LIMIT_BURST },
  }
}
