import type { ChannelKind } from '@backstop/contracts'

const KINDS: ReadonlySet<ChannelKind> = new Set(['slack', 'email'])

/** True if a channel of this kind may get several alerts in one message. */
export function hasDigests(kind: ChannelKind): boolean {
  return KINDS.has(kind)
}
