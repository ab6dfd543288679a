import {
  brandNameSetting,
  commonSettings,
  createNetworkMatcher,
  type Environment,
  egressSettings,
  hostListSetting,
  keyRingSetting,
  readConfig,
  Secret,
  setting,
  socketSettings,
} from '@backstop/kit'
import { z } from 'zod'
import type { AdminSettings } from './app.ts'

/** Minimum length of a chosen key. The key gives access to everything, so a word is not enough. */
const MIN_BOOTSTRAP_KEY_LENGTH = 32

/** The settings of admin-api by their environment names. `.env.example` describes each setting. */
export const settings = {
  ...commonSettings,
  PORT: setting.port(8082).describe('Port of the management API; 0 picks a free one'),
  INGRESS_PUBLIC_URL: setting
    .url()
    .describe('Base URL at which the providers reach ingress: what the inbound_url of a connection begins with'),
  SECRET_KEYS: keyRingSetting(),
  BOOTSTRAP_API_KEY: z
    .string()
    .min(MIN_BOOTSTRAP_KEY_LENGTH, `Give at least ${MIN_BOOTSTRAP_KEY_LENGTH} characters`)
    .regex(/^[\x21-\x7e]+$/, 'Use printable ASCII without spaces')
    .transform(value => new Secret(value))
    .optional()
    .describe('First API key; without it one is made at the first start and printed once'),
  BRAND_NAME: brandNameSetting().describe('The name that previews of messages carry; the same as in the notifier'),
  MAIL_EVENTS_TOKEN: z
    .string()
    .regex(/^[\w-]{24,200}$/, 'Give 24 to 200 letters, digits, - and _')
    .transform(value => new Secret(value))
    .optional()
    .describe('Part of the URL at which the mail provider reports bounces and complaints; none are taken without it'),
  SES_TOPIC_ARNS: setting
    .list()
    .pipe(z.array(z.string().regex(/^arn:aws[\w-]*:sns:[a-z0-9-]+:\d{12}:[\w.-]+$/, 'Give ARNs of SNS topics')))
    .describe('SNS topics on which Amazon SES reports; messages of others are refused, comma-separated'),
  BODIES_MAX_BYTES: setting
    .integer(16_777_216, 1_048_576, 4_294_967_296)
    .describe('Bytes of request bodies held in memory at once; beyond, the answer is 503'),
  ...socketSettings,
  // Fewer than in ingress, because each socket may hold a whole request, and few people and programs manage the product.
  MAX_SOCKETS: setting.integer(1_000, 10, 100_000).describe(socketSettings.MAX_SOCKETS.description ?? ''),
  MAX_SOCKETS_PER_ADDRESS: setting
    .integer(500, 1, 100_000)
    .describe(socketSettings.MAX_SOCKETS_PER_ADDRESS.description ?? ''),
  API_BASE_ALLOW_HOSTS: hostListSetting().describe(
    "Hosts that an api_base may name beside the provider's own: names, *.example.com, networks; comma-separated",
  ),
  CHANNEL_ALLOW_HOSTS: hostListSetting().describe(
    'Hosts that channels may name beside those of their service (Slack, PagerDuty, Teams, Discord): names, *.example.com, networks; comma-separated',
  ),
  ...egressSettings,
} as const

export type AdminConfig = ReturnType<typeof readAdminConfig>

/** @throws AppError `config_invalid` that lists every invalid setting */
export function readAdminConfig(environment: Environment) {
  return readConfig(settings, environment)
}

export function settingsOf(config: AdminConfig): AdminSettings {
  return {
    host: config.HOST,
    port: config.PORT,
    ingressPublicUrl: config.INGRESS_PUBLIC_URL,
    brandName: config.BRAND_NAME,
    bootstrapApiKey: config.BOOTSTRAP_API_KEY,
    mailEventsToken: config.MAIL_EVENTS_TOKEN,
    sesTopicArns: config.SES_TOPIC_ARNS,
    apiBaseHosts: config.API_BASE_ALLOW_HOSTS,
    channelHosts: config.CHANNEL_ALLOW_HOSTS,
    bodiesMaxBytes: config.BODIES_MAX_BYTES,
    sockets: {
      maxSockets: config.MAX_SOCKETS,
      maxPerAddress: config.MAX_SOCKETS_PER_ADDRESS,
      isTrustedProxy: createNetworkMatcher(config.TRUSTED_PROXY_CIDRS),
    },
  }
}
