/** The names of the settings of every deployed program, and the function that reads them. */
import type { Environment } from '@backstop/kit/config'
import type { z } from 'zod'
import {
  networkPolicySettings,
  provisionSettings,
  readNetworkPolicyConfig,
  readProvisionConfig,
  readWaitConfig,
  waitSettings,
} from '../../packages/provision/src/config.ts'
import { describeSetting } from '../../scripts/configuration-docs/describe-setting.ts'
import { settings as adminSettings, readAdminConfig } from '../../services/admin-api/src/config.ts'
import { settings as ingressSettings, readIngressConfig } from '../../services/ingress/src/config.ts'
import { settings as notifierSettings, readNotifierConfig } from '../../services/notifier/src/config.ts'
import { readReconcilerConfig, settings as reconcilerSettings } from '../../services/reconciler/src/config.ts'

interface Reader {
  /** The names of the program's settings. */
  readonly names: readonly string[]
  /** Those that hold a secret. */
  readonly secrets: readonly string[]
  /** @throws AppError `config_invalid` with all errors */
  read(environment: Environment): object
}

const reader = (settings: Readonly<Record<string, z.ZodType>>, read: (environment: Environment) => object): Reader => ({
  names: Object.keys(settings),
  secrets: Object.keys(settings).filter(name => describeSetting(name, settings[name] as z.ZodType).isSecret),
  read,
})

/** The programs by component. The container that waits for the deploy job is listed by its name. */
export const READERS: Readonly<Record<string, Reader>> = {
  ingress: reader(ingressSettings, readIngressConfig),
  reconciler: reader(reconcilerSettings, readReconcilerConfig),
  notifier: reader(notifierSettings, readNotifierConfig),
  'admin-api': reader(adminSettings, readAdminConfig),
  provision: reader(provisionSettings, readProvisionConfig),
  'network-policy-check': reader(networkPolicySettings, readNetworkPolicyConfig),
  'wait-for-provision': reader(waitSettings, readWaitConfig),
}

/** Limits that both ingress and admin-api have, with different defaults. In a deployment their names have a prefix. */
const OWN_LIMITS: Readonly<Record<string, readonly string[]>> = {
  ingress: ['BODIES_MAX_BYTES', 'MAX_SOCKETS', 'MAX_SOCKETS_PER_ADDRESS'],
  'admin-api': [
    'BODIES_MAX_BYTES',
    'MAX_SOCKETS',
    'MAX_SOCKETS_PER_ADDRESS',
    'RATE_LIMIT_PER_KEY',
    'RATE_LIMIT_PER_ADDRESS',
  ],
}
const PREFIXES: Readonly<Record<string, string>> = { ingress: 'INGRESS_', 'admin-api': 'ADMIN_' }

/** The names of those limits in settings.env and .env. */
export const PREFIXED: readonly string[] = Object.entries(OWN_LIMITS).flatMap(([program, names]) =>
  names.map(name => `${PREFIXES[program]}${name}`),
)

/**
 * The setting of a program that a line of settings.env or of compose's .env sets; undefined if the line is for other programs.
 */
export function settingOf(key: string, program: string): string | undefined {
  const prefix = PREFIXES[program]
  const own = OWN_LIMITS[program]?.find(limit => key === `${prefix}${limit}`)
  return own ?? (READERS[program]?.names.includes(key) ? key : undefined)
}

/** Variables that the Dockerfile sets for Node. No program reads them. */
export const NOT_OURS = new Set(['NODE_OPTIONS'])

/** Sample secrets that are valid, so that the programs start with them. */
export const SAMPLE_SECRETS: Readonly<Record<string, string>> = {
  SECRET_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  BOOTSTRAP_API_KEY: `bsk_${'0123456789abcdef'.repeat(3)}`,
  MONGO_URL: 'mongodb://mongo-0.mongo:27017/?replicaSet=rs0',
  MAIL_EVENTS_TOKEN: 'mail-events-token-of-the-tests',
  OIDC_CLIENT_SECRET: 'secret-of-the-client',
  HEARTBEAT_ALARM_URL: 'https://alarm.example.com/secret',
  HEARTBEAT_PING_URL: 'https://ping.example.com/secret',
  SMTP_URL: 'smtp://user:password@smtp.example.com:587',
}
