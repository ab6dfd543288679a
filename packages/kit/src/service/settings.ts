import { MongoClient } from 'mongodb'
import { z } from 'zod'
import { type Environment, readConfig, SECRET_METADATA, setting } from '../config/config.ts'
import { Secret } from '../config/secret.ts'
import { createHostList } from '../egress/index.ts'
import { tracingSettings, withoutUnusedTraces } from '../tracing/start-tracing.ts'
import { credentialSettings, findCredentialFaults } from './credential-settings.ts'

/** Settings of every service, by their environment names. */
export const commonSettings = {
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    .default('info')
    .describe('Least severe level that is logged'),
  BACKSTOP_REVISION: z
    .string()
    .min(1)
    .default('unknown')
    .describe('Commit of the running code, for the metric backstop_build_info. The images set it'),
  HOST: z.string().default('127.0.0.1').describe('Address to listen on; 0.0.0.0 inside a container'),
  OPS_PORT: setting.port(0).describe('Port of /healthz, /readyz and /metrics; 0 picks a free one'),
  KAFKA_BROKERS: setting
    .list()
    .pipe(
      z
        .array(z.string().regex(/^[^\s:]+:\d+$/, 'Give host:port, comma-separated'))
        .min(1, 'Give at least one host:port'),
    )
    .describe('Kafka bootstrap brokers, host:port, comma-separated'),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[a-z0-9.-]{0,40}$/, 'Use small letters, digits, dots and hyphens, 40 at most')
    .default('')
    .describe('Prefix of every topic and group name, so that several installations can share one Kafka'),
  MONGO_URL: mongoUrl().describe('MongoDB replica set, mongodb:// or mongodb+srv://'),
  MONGO_DB: z.string().min(1).default('backstop').describe('Database name'),
  SCHEMA_REGISTRY_URL: setting
    .url()
    .refine(hasReadableUserInfo, 'Percent-encode user and password')
    .describe('Base URL of a Confluent-compatible schema registry'),
  ...credentialSettings,
  ...tracingSettings,
} as const

/**
 * Reads settings as {@link readConfig} does, and checks that the credentials among them fit together.
 * @throws AppError `config_invalid`
 */
export function readServiceConfig<S extends z.ZodRawShape>(shape: S, environment: Environment) {
  return readConfig(shape, withoutUnusedTraces(environment), findCredentialFaults)
}

/** Settings of the guarded HTTP client: allowed and denied networks, ports, proxy. */
export const egressSettings = {
  EGRESS_ALLOW_CIDRS: setting
    .list()
    .describe(
      'Networks that are not public and that users may nevertheless point channels and api_base to, by any scheme, port and name, comma-separated',
    ),
  EGRESS_DENY_CIDRS: setting
    .list()
    .describe(
      'Networks that users may not point to although they are public, for example those of your pods, services and nodes, comma-separated',
    ),
  EGRESS_PROXY_URL: z
    .url({ protocol: /^https?$/, error: 'Give http://user:password@host:port' })
    .transform(url => new Secret(url))
    .meta(SECRET_METADATA)
    .optional()
    .describe(
      'CONNECT proxy for these requests, http://user:password@host:port. HTTP_PROXY and its relatives are ignored',
    ),
} as const

/** A list of hosts that users may use in addition to the built-in ones: names, `*.` before a name, networks. */
export const hostListSetting = () =>
  setting.list().refine(isHostList, 'Give host names, *.example.com or networks such as 10.0.0.0/8, comma-separated')

function isHostList(entries: readonly string[]): boolean {
  try {
    createHostList(entries)
    return true
  } catch {
    return false
  }
}

/** Limits on client connections, and the trusted proxies. */
export const socketSettings = {
  MAX_SOCKETS: setting
    .integer(5_000, 10, 100_000)
    .describe('Most open TCP connections; beyond it the connection that has been idle longest is closed'),
  MAX_SOCKETS_PER_ADDRESS: setting
    .integer(1_000, 1, 100_000)
    .describe(
      'Most open TCP connections of one client address (IPv6: one /64); beyond it the connection of this address that has been idle longest is closed',
    ),
  TRUSTED_PROXY_CIDRS: setting
    .list()
    .describe(
      'Networks of your own load balancers and proxies, comma-separated. Their connections are not limited by address, and the address of the client is read from their X-Forwarded-For',
    ),
} as const

/** The brand name in messages. Excludes characters that could end a header or an attribute. */
export const brandNameSetting = () =>
  z
    .string()
    .regex(/^[^\p{Cc}<>"]{1,60}$/u, 'Give up to 60 characters without line breaks, quotes or angle brackets')
    .default('Backstop')

function hasReadableUserInfo(text: string): boolean {
  const url = URL.parse(text)
  if (url === null) return true
  try {
    decodeURIComponent(url.username + url.password)
    return true
  } catch {
    return false
  }
}

/**
 * Validates the URL together with all other settings, with our own message, because the driver's messages quote parts
 * of the URL.
 */
function mongoUrl() {
  const isGood = (url: string) => {
    try {
      // The constructor only parses the URL: it does not connect.
      new MongoClient(url)
      return true
    } catch {
      return false
    }
  }
  return z
    .string()
    .refine(isGood, 'Begin with mongodb:// or mongodb+srv://, percent-encode the password, use options that there are')
    .transform(url => new Secret(url))
    .meta(SECRET_METADATA)
}
