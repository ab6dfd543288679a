import { type Environment, setting } from '@backstop/kit/config'
import { AppError } from '@backstop/kit/errors'
import { keyRingSetting } from '@backstop/kit/secret-box'
import { brandNameSetting, commonSettings, egressSettings, readServiceConfig } from '@backstop/kit/service'
import { z } from 'zod'
import type { NotifierSettings } from './app.ts'
import { DEFAULT_STORM_SETTINGS } from './storm/rules/storm-settings.ts'

/** Every setting of the notifier by the name of its environment variable. `.env.example` lists the same settings. */
export const settings = {
  ...commonSettings,
  SECRET_KEYS: keyRingSetting(),
  PUBLIC_URL: setting
    .url()
    .optional()
    .describe('Base URL of the console, for links in messages. Without it messages have no links'),
  API_PUBLIC_URL: setting
    .url()
    .optional()
    .describe(
      'Base URL at which mail programs reach the management API, for unsubscribe links. Without it mails have none',
    ),
  BRAND_NAME: brandNameSetting().describe('Name of the product in messages'),
  SMTP_URL: setting
    .secret()
    .optional()
    .describe(
      'Mail server, smtp://user:password@host:587 or smtps://…. Without it mail channels report that no mail can be sent',
    ),
  SMTP_FROM: z
    .string()
    .optional()
    .describe('Sender of mails, for example Backstop <alerts@example.com>. Required with SMTP_URL'),
  SMTP_REQUIRE_TLS: z
    .stringbool()
    .default(true)
    .describe('Refuse a mail server that offers no TLS. A server on loopback does not need it'),
  ...egressSettings,
  EGRESS_DANGEROUSLY_SKIP_TLS_VERIFICATION: z
    .stringbool()
    .default(false)
    .describe('Accept any certificate of receivers. For tests only; the metric egress_risks shows it'),
  DELIVERIES_MAX_ACTIVE: setting.integer(512, 1, 2_000).describe('Most attempts in flight in one process'),
  CHANNEL_QUEUE_MAX: setting
    .integer(250, 50, 10_000)
    .describe('Most deliveries of one channel that wait in memory; more wait in Kafka'),
  STORM_FROM: setting
    .integer(DEFAULT_STORM_SETTINGS.from, 2, 10_000)
    .describe('Unexplained actions of one connection within STORM_WINDOW_MS that begin a storm'),
  STORM_WINDOW_MS: setting
    .integer(DEFAULT_STORM_SETTINGS.windowMs, 1_000, 3_600_000)
    .describe('Time in which STORM_FROM actions begin a storm'),
  STORM_QUIET_MS: setting
    .integer(DEFAULT_STORM_SETTINGS.quietMs, 1_000, 3_600_000)
    .describe('Time without a further unexplained action after which a storm ends'),
} as const

export type NotifierConfig = ReturnType<typeof readNotifierConfig>

/** @throws AppError `config_invalid` with every invalid setting at once */
export function readNotifierConfig(environment: Environment) {
  const config = readServiceConfig(settings, environment)
  if (config.SMTP_URL !== undefined && config.SMTP_FROM === undefined) {
    throw new AppError('config_invalid', 'The configuration has 1 error(s):\n  SMTP_FROM: is required with SMTP_URL')
  }
  return config
}

export function settingsOf(config: NotifierConfig): NotifierSettings {
  return {
    publicUrl: withoutTrailingSlash(config.PUBLIC_URL),
    brandName: config.BRAND_NAME,
    apiPublicUrl: withoutTrailingSlash(config.API_PUBLIC_URL),
    maxActive: config.DELIVERIES_MAX_ACTIVE,
    maxQueuedPerChannel: config.CHANNEL_QUEUE_MAX,
    storms: { from: config.STORM_FROM, windowMs: config.STORM_WINDOW_MS, quietMs: config.STORM_QUIET_MS },
  }
}

function withoutTrailingSlash(url: string | undefined): string | null {
  return url?.replace(/\/+$/, '') ?? null
}
