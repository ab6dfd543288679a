/** The settings by which each service finds the stack and the other services. Pure. */
import type { ServiceName, SERVICES as ServiceNames } from '@backstop/contracts'
import type { StackUrls } from '@backstop/stack'
import type { StoredSecrets } from './stored-secrets.ts'

export type { ServiceName }
/** Only the types of @backstop/contracts are imported, because its schemas would take 40 MB of the launcher's memory. */
export const SERVICES: typeof ServiceNames = ['ingress', 'reconciler', 'notifier', 'admin-api']

/** The ports of one instance of a service. `main` is absent for a service without clients. */
export interface InstancePorts {
  main?: number
  ops: number
}

/** The addresses, secrets and names that all services of a product share. */
export interface ProductContext {
  stack: StackUrls
  secrets: StoredSecrets
  /** Base URL at which providers reach ingress. */
  ingressUrl: string
  /** Base URL at which browsers and mail programs reach admin-api. */
  adminUrl: string
  /** The prefix of topics, consumer groups and the database's name. Empty if the stack has one product. */
  topicPrefix: string
  /** Milliseconds until the second look. */
  recheckDelayMs: number
}

/**
 * The private addresses that channels and api_base may use: loopback, for the demo's receiver, the simulator and the mail
 * catcher. Only local set-ups allow them. In a cluster every private address is refused.
 */
const LOOPBACK_CIDRS = '127.0.0.0/8,::1/128'
const LOOPBACK_HOSTS = `localhost,${LOOPBACK_CIDRS}`

/** The environment of one instance of a service, without the inherited variables. */
export function environmentOf(
  service: ServiceName,
  ports: InstancePorts,
  { stack, secrets, ingressUrl, adminUrl, topicPrefix, recheckDelayMs }: ProductContext,
): Record<string, string> {
  const shared = {
    HOST: '127.0.0.1',
    OPS_PORT: String(ports.ops),
    ...(ports.main === undefined ? {} : { PORT: String(ports.main) }),
    KAFKA_BROKERS: stack.kafka,
    KAFKA_TOPIC_PREFIX: topicPrefix,
    MONGO_URL: stack.mongo,
    MONGO_DB: databaseName(topicPrefix),
    SCHEMA_REGISTRY_URL: stack.registry,
    SECRET_KEYS: secrets.secretKeys,
    EGRESS_ALLOW_CIDRS: LOOPBACK_CIDRS,
  }
  switch (service) {
    case 'ingress':
      return shared
    case 'reconciler':
      return { ...shared, RECHECK_DELAY_MS: String(recheckDelayMs) }
    case 'notifier':
      return {
        ...shared,
        SMTP_URL: stack.smtp,
        SMTP_FROM: 'Backstop <backstop@localhost>',
        PUBLIC_URL: adminUrl,
        API_PUBLIC_URL: adminUrl,
      }
    case 'admin-api':
      return {
        ...shared,
        INGRESS_PUBLIC_URL: ingressUrl,
        PUBLIC_URL: adminUrl,
        BOOTSTRAP_API_KEY: secrets.bootstrapKey,
        API_BASE_ALLOW_HOSTS: LOOPBACK_HOSTS,
        CHANNEL_ALLOW_HOSTS: LOOPBACK_HOSTS,
      }
    default:
      throw service satisfies never
  }
}

/** The name of the database of a prefix. It has no dots, because MongoDB refuses them (manual, "Naming Restrictions"). */
export function databaseName(topicPrefix: string): string {
  const suffix = topicPrefix.replaceAll(/[^a-z0-9]+/g, '-').replace(/-$/, '')
  return suffix === '' ? 'backstop' : `backstop-${suffix}`
}
