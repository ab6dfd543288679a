import type { SuppressionReason } from '@backstop/contracts'

const IN_WORDS: Record<SuppressionReason, string> = {
  unsubscribed: 'unsubscribed',
  hard_bounce: 'bounced permanently',
  soft_bounces: 'bounced repeatedly',
  complaint: 'reported a mail as spam',
  manual: 'suppressed by hand',
}

/**
 * Counts suppressed addresses by reason, without naming them: "2 addresses are suppressed (1 unsubscribed, 1 bounced
 * permanently)".
 */
export function describeSuppressed(reasons: readonly SuppressionReason[]): string {
  const byReason = [...Map.groupBy(reasons, reason => reason)]
  const list = byReason.map(([reason, group]) => `${group.length} ${IN_WORDS[reason]}`).join(', ')
  return `${reasons.length === 1 ? '1 address is' : `${reasons.length} addresses are`} suppressed (${list})`
}

/**
 * Counts the suppressed addresses of a mail channel of which none gets mail. @returns null for any other channel
 * @param suppressed the suppressed addresses of the project, in lower case
 */
export function describeUnreached(
  config: { readonly kind: string; readonly to?: readonly string[] },
  suppressed: ReadonlyMap<string, SuppressionReason>,
): string | null {
  if (config.kind !== 'email' || config.to === undefined) return null
  const addresses = [...new Set(config.to.map(address => address.toLowerCase()))]
  const reasons = addresses.flatMap(address => suppressed.get(address) ?? [])
  return reasons.length === 0 || reasons.length < addresses.length ? null : describeSuppressed(reasons)
}
