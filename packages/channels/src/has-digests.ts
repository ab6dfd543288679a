import type { ChannelKind } from '@backstop/contracts'

const HAS_DIGESTS: { readonly [K in ChannelKind]: boolean } = {
  slack: true,
  email: true,
  webhook: false,
  pagerduty: false,
  teams: false,
  discord: false,
}

/** True if a channel of this kind may get several alerts in one message. */
export function hasDigests(kind: ChannelKind): boolean {
  return HAS_DIGESTS[kind]
}
