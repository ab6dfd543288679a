import type { Secret } from '../config/secret.ts'
import { createEgress, type Egress } from '../egress/index.ts'
import type { ServiceParts } from './service-parts.ts'

/** The settings of `egressSettings`. */
export interface EgressConfig {
  readonly EGRESS_ALLOW_CIDRS: readonly string[]
  readonly EGRESS_DENY_CIDRS: readonly string[]
  readonly EGRESS_PROXY_URL?: Secret | undefined
}

/** The guarded client of a service, as the operator set it. */
export function openEgress(config: EgressConfig, { logger }: Pick<ServiceParts, 'logger'>): Egress {
  const { EGRESS_ALLOW_CIDRS: allowCidrs, EGRESS_DENY_CIDRS: denyCidrs, EGRESS_PROXY_URL: proxyUrl } = config
  return createEgress({
    allowCidrs,
    denyCidrs,
    logger,
    ...(proxyUrl === undefined ? {} : { proxyUrl: proxyUrl.reveal() }),
  })
}
