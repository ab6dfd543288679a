import { MongoClient } from 'mongodb'
import { z } from 'zod'
import { type Environment, readConfig, setting } from '../config/config.ts'
import { Secret } from '../config/secret.ts'
import { createHostList } from '../egress/index.ts'
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
    .describe('Commit of the running code, for the metric backstop_build_info; set by the images'),
  HOST: z.string().default('127.0.0.1').describe('Address to listen on; 0.0.0.0 inside a container'),
  OPS_PORT: setting.port(0).describe('Port of /healthz, /readyz and /metrics; 0 picks a free one'),
  KAFKA_BROKERS: setting
    .list()
    .pipe(
      z
        .array(z.string().regex(/^[^\s:]+:\d+$/, 'Give host:port, comma-separated'))
        .min(1, 'Give at least one host:port'),
    )
    .describe('Kafka brokers to start from, host:port, comma-separated'),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[a-z0-9.-]{0,40}$/, 'Use small letters, digits, dots and hyphens, 40 at most')
    .default('')
    .describe('Put before every topic and group name, so that several instances share one Kafka'),
  MONGO_URL: mongoUrl().describe('MongoDB replica set, mongodb:// or mongodb+srv://'),
  MONGO_DB: z.string().min(1).default('backstop').describe('Database name'),
  SCHEMA_REGISTRY_URL: setting
    .url()
    .refine(hasReadableUserInfo, 'Percent-encode user and password')
    .describe('Base URL of a Confluent-compatible schema registry'),
  ...credentialSettings,
} as const

/**
 * Reads settings as {@link readConfig} does, and checks that the credentials among them fit together.
 * @throws AppError `config_invalid`
 */
export function readServiceConfig<S extends z.ZodRawShape>(shape: S, environment: Environment) {
  return readConfig(shape, environment, findCredentialFaults)
}

/** Settings of the guarded HTTP client: allowed and denied networks, ports, proxy. */
export const egressSettings = {
  EGRESS_ALLOW_CIDRS: setting
    .list()
    .describe('Networks beyond the public ones that users may point to, by any scheme, port and name, comma-separated'),
  EGRESS_DENY_CIDRS: setting
    .list()
    .describe('Networks that users may not point to even where they are public: your pods, services and nodes'),
  EGRESS_PROXY_URL: z
    .url({ protocol: /^https?$/, error: 'Give http://user:password@host:port' })
    .transform(url => new Secret(url))
    .optional()
    .describe('CONNECT proxy that all of it goes through; proxies of the environment are ignored'),
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
    .describe('TCP connections that may be open at once; beyond, the longest idle one is closed'),
  MAX_SOCKETS_PER_ADDRESS: setting
    .integer(1_000, 1, 100_000)
    .describe('Of one client address (IPv6: of one /64); beyond, the longest idle one of this address is closed'),
  TRUSTED_PROXY_CIDRS: setting
    .list()
    .describe(
      'Your own load balancers and proxies, comma-separated: their addresses are not limited, their X-Forwarded-For is believed',
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
}
