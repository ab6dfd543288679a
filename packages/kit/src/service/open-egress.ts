import type { Secret } from '../config/secret.ts'
import { createEgress, type Egress } from '../egress/index.ts'
import type { ServiceParts } from './service-parts.ts'

/** The settings of `egressSettings`, and a setting that only some services have. */
export interface EgressConfig {
  readonly EGRESS_ALLOW_CIDRS: readonly string[]
  readonly EGRESS_DENY_CIDRS: readonly string[]
  readonly EGRESS_PROXY_URL?: Secret | undefined
  /** Ports of the service itself. 0 selects a free port, which is unknown in advance. */
  readonly PORT?: number
  readonly OPS_PORT: number
  readonly EGRESS_DANGEROUSLY_SKIP_TLS_VERIFICATION?: boolean
}

/**
 * Creates the guarded HTTP client of a service with the operator's settings. The gauge `egress_risks` shows the
 * disabled guards for as long as the process runs, because a log line at the start is soon out of view.
 */
export function openEgress(
  config: EgressConfig,
  { logger, metrics }: Pick<ServiceParts, 'logger' | 'metrics'>,
): Egress {
  const { EGRESS_ALLOW_CIDRS: allowCidrs, EGRESS_DENY_CIDRS: denyCidrs, EGRESS_PROXY_URL: proxyUrl } = config
  const dangerouslySkipTlsVerification = config.EGRESS_DANGEROUSLY_SKIP_TLS_VERIFICATION ?? false
  const risks = metrics.gauge('egress_risks', '1 where the operator removed a guard of outgoing requests', ['risk'])
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
