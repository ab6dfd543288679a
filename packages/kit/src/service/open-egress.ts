import type { Secret } from '../config/secret.ts'
import { createEgress, type Egress } from '../egress/index.ts'
import type { ServiceParts } from './service-parts.ts'

/** The settings of `egressSettings`, and the switch that only some services have. */
export interface EgressConfig {
  readonly EGRESS_ALLOW_CIDRS: readonly string[]
  readonly EGRESS_DENY_CIDRS: readonly string[]
  readonly EGRESS_PROXY_URL?: Secret | undefined
  /** What the service itself listens on; 0 picks a free one, which nobody can name in advance. */
  readonly PORT?: number
  readonly OPS_PORT: number
  readonly EGRESS_DANGEROUSLY_SKIP_TLS_VERIFICATION?: boolean
}

/**
 * The guarded client of a service, as the operator set it. What that opened up is logged once, and stays in sight as the
 * gauge `egress_risks` (R1.9): a line of weeks ago warns nobody.
 */
export function openEgress(
  config: EgressConfig,
  { logger, metrics }: Pick<ServiceParts, 'logger' | 'metrics'>,
): Egress {
  const { EGRESS_ALLOW_CIDRS: allowCidrs, EGRESS_DENY_CIDRS: denyCidrs, EGRESS_PROXY_URL: proxyUrl } = config
  const dangerouslySkipTlsVerification = config.EGRESS_DANGEROUSLY_SKIP_TLS_VERIFICATION ?? false
  const risks = metrics.gauge('egress_risks', '1 where the operator took a guard off outgoing requests', ['risk'])
  risks.set({ risk: 'private_networks_allowed' }, allowCidrs.length > 0 ? 1 : 0)
  risks.set({ risk: 'tls_not_verified' }, dangerouslySkipTlsVerification ? 1 : 0)
  return createEgress({
    allowCidrs,
    denyCidrs,
    ownPorts: [config.PORT ?? 0, config.OPS_PORT].filter(port => port > 0),
    logger,
    dangerouslySkipTlsVerification,
    ...(proxyUrl === undefined ? {} : { proxyUrl: proxyUrl.reveal() }),
  })
}
