import type { SuppressionReason } from '@backstop/contracts'

const IN_WORDS: Record<SuppressionReason, string> = {
  unsubscribed: 'unsubscribed',
  hard_bounce: 'bounced for good',
  soft_bounces: 'bounced too often',
  complaint: 'reported a mail as spam',
  manual: 'taken out by hand',
}

/** Suppressed addresses in words, by number and not by name: "2 addresses are suppressed (1 unsubscribed, 1 bounced for good)". */
export function describeSuppressed(reasons: readonly SuppressionReason[]): string {
  const byReason = [...Map.groupBy(reasons, reason => reason)]
  const list = byReason.map(([reason, group]) => `${group.length} ${IN_WORDS[reason]}`).join(', ')
  return `${reasons.length === 1 ? '1 address is' : `${reasons.length} addresses are`} suppressed (${list})`
}
