import { type Environment, setting } from '@backstop/kit/config'
import { createNetworkMatcher } from '@backstop/kit/egress'
import { keyRingSetting } from '@backstop/kit/secret-box'
import { commonSettings, readServiceConfig, socketSettings } from '@backstop/kit/service'
import { PROVIDERS } from '@backstop/providers'
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
    "Headers that may contain the card processor's signature, comma-separated; a request must have exactly one of them",
  ),
  RESELLER_SIGNATURE_HEADERS: headerNames(PROVIDERS.reseller.credentialHeaders).describe(
    "Headers that may contain the reseller's signature, comma-separated; a request must have exactly one of them",
  ),
  PUBLISH_TIMEOUT_MS: setting
    .integer(2_500, 100, 2_900)
    .describe('Time that an event may wait for the acknowledgement of Kafka before the answer is 503'),
  PUBLISH_LINGER_MS: setting
    .integer(2, 0, 50)
    .describe(
      'Time that the first event of a batch waits for more events. A higher value increases throughput and latency',
    ),
  QUEUE_MAX_MESSAGES: setting
    .integer(10_000, 1, 1_000_000)
    .describe('Most events that wait for their acknowledgement; beyond it the answer is 503'),
  QUEUE_MAX_BYTES: setting
    .integer(67_108_864, 2_097_152, 4_294_967_296)
    .describe('Most bytes of events that wait for their acknowledgement; beyond it the answer is 503'),
  BODIES_MAX_BYTES: setting
    .integer(67_108_864, 1_048_576, 4_294_967_296)
    .describe('Most bytes of request bodies in memory; beyond it the answer is 503'),
  BODY_TIMEOUT_MS: setting
    .integer(10_000, 100, 14_000)
    .describe('Time that a body may take to arrive before its connection is cut'),
  ...socketSettings,
  RATE_LIMIT_PER_S: setting
    .integer(500, 1, 1_000_000)
    .describe(
      'Authentic events per second that one billing connection may send continuously; beyond it the answer is 429. Each process counts separately',
    ),
  RATE_LIMIT_BURST: setting
    .integer(5_000, 1, 10_000_000)
    .describe('Authentic events that one billing connection may send in a burst after a pause'),
  SHED_WAIT_MS: setting
    .integer(100, 20, 2_500)
    .describe(
      'Time that a request may wait for the event loop, or an event for its send to Kafka, before new requests are refused with 503. An answer under overload takes up to about twice as long',
    ),
  CONNECTIONS_RELOAD_MS: setting
    .integer(60_000, 1_000, 3_600_000)
    .describe('Time between two full reads of all billing connections, in case the change stream misses a change'),
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
    queueMaxWaitMs: config.SHED_WAIT_MS,
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
