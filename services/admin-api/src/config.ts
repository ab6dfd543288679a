import { fileURLToPath } from 'node:url'
import { MIN_ARCHIVE_DAYS } from '@backstop/contracts'
import { type Environment, SECRET_METADATA, Secret, setting } from '@backstop/kit/config'
import { createNetworkMatcher } from '@backstop/kit/egress'
import { AppError } from '@backstop/kit/errors'
import { keyRingSetting } from '@backstop/kit/secret-box'
import {
  brandNameSetting,
  commonSettings,
  egressSettings,
  hostListSetting,
  readServiceConfig,
  socketSettings,
} from '@backstop/kit/service'
import { z } from 'zod'
import { isLoopback } from './access/rules/same-origin.ts'
import type { AdminSettings } from './app.ts'
import { parseGroupRole } from './oidc/rules/claims.ts'

/** Minimum length of a chosen key. The key gives access to everything, so a word is not enough. */
const MIN_BOOTSTRAP_KEY_LENGTH = 32

/** A URL whose path may be a credential. */
const secretUrl = () =>
  setting
    .url()
    .transform(url => new Secret(url))
    .meta(SECRET_METADATA)
    .optional()

/** The settings of admin-api by their environment names. `.env.example` describes each setting. */
export const settings = {
  ...commonSettings,
  PORT: setting.port(8082).describe('Port of the management API; 0 picks a free one'),
  INGRESS_PUBLIC_URL: setting
    .url()
    .describe(
      'Base URL at which the providers reach ingress. The inbound_url of each billing connection begins with it',
    ),
  SECRET_KEYS: keyRingSetting(),
  BOOTSTRAP_API_KEY: z
    .string()
    .min(MIN_BOOTSTRAP_KEY_LENGTH, `Give at least ${MIN_BOOTSTRAP_KEY_LENGTH} characters`)
    .regex(/^[\x21-\x7e]+$/, 'Use printable ASCII without spaces')
    .transform(value => new Secret(value))
    .meta(SECRET_METADATA)
    .optional()
    .describe('First API key. Without it the first start creates a key and prints it once'),
  BRAND_NAME: brandNameSetting().describe('Name of the product in previews of messages; the same as in the notifier'),
  PUBLIC_URL: setting
    .url()
    .optional()
    .describe(
      'Base URL of this API and the console, for sign-in links and links in previews; the same as in the notifier',
    ),
  MAIL_EVENTS_TOKEN: z
    .string()
    .regex(/^[\w-]{24,200}(?:,[\w-]{24,200})?$/, 'Give 24 to 200 letters, digits, - and _, or two such tokens')
    .transform(value => new Secret(value))
    .meta(SECRET_METADATA)
    .optional()
    .describe(
      'Part of the URL at which the mail provider reports bounces and complaints. Two, comma-separated, are both accepted during a rotation. Without it no reports are accepted',
    ),
  SES_TOPIC_ARNS: setting
    .list()
    .pipe(z.array(z.string().regex(/^arn:aws[\w-]*:sns:[a-z0-9-]+:\d{12}:[\w.-]+$/, 'Give ARNs of SNS topics')))
    .describe(
      'ARNs of the SNS topics on which Amazon SES reports, comma-separated. Messages of other topics are refused',
    ),
  OIDC_ISSUER: setting
    .url()
    .refine(
      isIssuer,
      'Give the issuer exactly as the provider states it: an https URL; http is accepted on loopback only',
    )
    .optional()
    .describe(
      'Issuer of the OpenID Connect provider with which people sign in. Without it people sign in by link or key',
    ),
  OIDC_CLIENT_ID: z.string().max(512).optional().describe('Client id at the OpenID Connect provider'),
  OIDC_CLIENT_SECRET: setting
    .secret()
    .optional()
    .describe('Client secret at the OpenID Connect provider. Without it the client is a public client'),
  OIDC_SCOPES: z
    .string()
    .default('openid profile email')
    .refine(scopes => scopes.split(' ').includes('openid'), 'Give scopes separated by spaces, with openid')
    .describe('Requested scopes, separated by spaces'),
  OIDC_GROUPS_CLAIM: z.string().max(256).default('groups').describe('Claim with the groups of a person'),
  OIDC_ROLES: setting
    .list()
    .transform((entries, context) =>
      entries.flatMap(entry => {
        const role = parseGroupRole(entry)
        const message = `${JSON.stringify(entry)} is not <group>=<role> or <group>=<role>@<project_id>`
        if (role === undefined) context.addIssue({ code: 'custom', message })
        return role ?? []
      }),
    )
    .describe('Roles of groups, comma-separated: <group>=<role> in all projects, <group>=<role>@<project_id> in one'),
  BODIES_MAX_BYTES: setting
    .integer(16_777_216, 1_048_576, 4_294_967_296)
    .describe('Most bytes of request bodies in memory; beyond it the answer is 503'),
  ARCHIVE_AFTER_DAYS: setting
    .integer(0, 0, 36_500)
    .refine(days => days === 0 || days >= MIN_ARCHIVE_DAYS, `Give ${MIN_ARCHIVE_DAYS} or more, or 0`)
    .describe(
      `Days after which \`backstop archive\` may move an explained action from the database into files, ${MIN_ARCHIVE_DAYS} or more; 0 keeps actions for ever`,
    ),
  RATE_LIMIT_PER_KEY: setting
    .integer(12_000, 10, 10_000_000)
    .describe('Most requests of one API key in a minute; beyond it the answer is 429'),
  RATE_LIMIT_PER_ADDRESS: setting
    .integer(24_000, 10, 10_000_000)
    .describe('Most requests of one client address in a minute; beyond it the answer is 429'),
  ...socketSettings,
  // Fewer than in ingress, because each socket may hold a whole request, and few people and programs manage the product.
  MAX_SOCKETS: setting.integer(1_000, 10, 100_000).describe(socketSettings.MAX_SOCKETS.description ?? ''),
  MAX_SOCKETS_PER_ADDRESS: setting
    .integer(500, 1, 100_000)
    .describe(socketSettings.MAX_SOCKETS_PER_ADDRESS.description ?? ''),
  API_BASE_ALLOW_HOSTS: hostListSetting().describe(
    "Hosts that an api_base may name in addition to the provider's own: names, *.example.com, networks; comma-separated",
  ),
  CHANNEL_ALLOW_HOSTS: hostListSetting().describe(
    'Hosts that channels may name in addition to those of their service (Slack, PagerDuty, Teams, Discord): names, *.example.com, networks; comma-separated',
  ),
  HEARTBEAT: z
    .enum(['on', 'off'])
    .default('off')
    .describe('on or off: a heartbeat through all services, and a report of its absence'),
  HEARTBEAT_INGRESS_URL: setting
    .url()
    .optional()
    .describe('Base URL at which admin-api posts heartbeats to ingress. Without it: INGRESS_PUBLIC_URL'),
  HEARTBEAT_EVERY_MS: setting
    .integer(60_000, 1_000, 3_600_000)
    .describe('Time between two heartbeats; the same in every process'),
  HEARTBEAT_ALARM_AFTER_MS: setting
    .integer(300_000, 5_000, 86_400_000)
    .describe('Time without a returned heartbeat after which its absence is reported'),
  HEARTBEAT_ALARM_URL: secretUrl().describe('Gets a JSON document when the heartbeat is missing and when it is back'),
  HEARTBEAT_PING_URL: secretUrl().describe('Gets a GET for each heartbeat that came back'),
  ...egressSettings,
} as const

export type AdminConfig = ReturnType<typeof readAdminConfig>

/** @throws AppError `config_invalid` that lists every invalid setting */
export function readAdminConfig(environment: Environment) {
  const config = readServiceConfig(settings, environment)
  if ((config.OIDC_ISSUER === undefined) !== (config.OIDC_CLIENT_ID === undefined)) {
    throw new AppError('config_invalid', 'Set both OIDC_ISSUER and OIDC_CLIENT_ID, or neither')
  }
  if (config.HEARTBEAT_ALARM_AFTER_MS < 2 * config.HEARTBEAT_EVERY_MS) {
    throw new AppError('config_invalid', 'Set HEARTBEAT_ALARM_AFTER_MS to at least twice HEARTBEAT_EVERY_MS')
  }
  return config
}

/** Without TLS anybody in the network could sign in as anybody. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.search !== '' || url.hash !== '') return false
  return url.protocol === 'https:' || isLoopback(url.host)
}

const CONSOLE_FOLDER = fileURLToPath(new URL('../../../packages/console/dist', import.meta.url))

function oidcOf(config: AdminConfig): AdminSettings['oidc'] {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = config
  if (issuer === undefined || clientId === undefined) return undefined
  return {
    issuer,
    clientId,
    clientSecret: config.OIDC_CLIENT_SECRET,
    scopes: config.OIDC_SCOPES,
    groupsClaim: config.OIDC_GROUPS_CLAIM,
    groupRoles: config.OIDC_ROLES,
  }
}

function heartbeatOf(config: AdminConfig): AdminSettings['heartbeat'] {
  if (config.HEARTBEAT === 'off') return undefined
  return {
    ingressUrl: config.HEARTBEAT_INGRESS_URL ?? config.INGRESS_PUBLIC_URL,
    everyMs: config.HEARTBEAT_EVERY_MS,
    alarmAfterMs: config.HEARTBEAT_ALARM_AFTER_MS,
    alarmUrl: config.HEARTBEAT_ALARM_URL,
    pingUrl: config.HEARTBEAT_PING_URL,
    proxyUrl: config.EGRESS_PROXY_URL,
    installation: `${config.BRAND_NAME} (${config.PUBLIC_URL ?? config.INGRESS_PUBLIC_URL})`,
  }
}

export function settingsOf(config: AdminConfig): AdminSettings {
  return {
    host: config.HOST,
    port: config.PORT,
    ingressPublicUrl: config.INGRESS_PUBLIC_URL,
    publicUrl: config.PUBLIC_URL ?? `http://127.0.0.1:${config.PORT}`,
    oidc: oidcOf(config),
    brandName: config.BRAND_NAME,
    consolePublicUrl: config.PUBLIC_URL?.replace(/\/+$/, '') ?? null,
    consoleFolder: CONSOLE_FOLDER,
    bootstrapApiKey: config.BOOTSTRAP_API_KEY,
    mailEventsToken: config.MAIL_EVENTS_TOKEN,
    sesTopicArns: config.SES_TOPIC_ARNS,
    apiBaseHosts: config.API_BASE_ALLOW_HOSTS,
    channelHosts: config.CHANNEL_ALLOW_HOSTS,
    bodiesMaxBytes: config.BODIES_MAX_BYTES,
    heartbeat: heartbeatOf(config),
    archiveAfterDays: config.ARCHIVE_AFTER_DAYS,
    rateLimits: { perKey: config.RATE_LIMIT_PER_KEY, perAddress: config.RATE_LIMIT_PER_ADDRESS },
    sockets: {
      maxSockets: config.MAX_SOCKETS,
      maxPerAddress: config.MAX_SOCKETS_PER_ADDRESS,
      isTrustedProxy: createNetworkMatcher(config.TRUSTED_PROXY_CIDRS),
    },
  }
}
