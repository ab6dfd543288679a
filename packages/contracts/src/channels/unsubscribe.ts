/** The content of the token in an unsubscribe link. The notifier writes it and admin-api reads it. */

/** The purpose that is part of the token's signature. A token that was signed for another purpose is refused. */
export const UNSUBSCRIBE_PURPOSE = 'unsubscribe'

/** How long an unsubscribe link works after its alert was raised, in milliseconds. Mails are forwarded and archived. */
export const UNSUBSCRIBE_LINK_MS = 90 * 86_400_000

/** The project and the address whose mails an unsubscribe link ends. */
export interface UnsubscribeTarget {
  readonly projectId: string
  readonly address: string
}

/**
 * Makes the text that the token signs.
 * @param raisedAt when the newest alert of the mail was raised, so that a repeat of the mail has the same link
 */
export function unsubscribeTargetText({ projectId, address }: UnsubscribeTarget, raisedAt: string): string {
  return `${projectId}\n${address.toLowerCase()}\n${new Date(raisedAt).toISOString()}`
}

/**
 * Reads the text that `unsubscribeTargetText` made.
 * @returns undefined for any other text, for a link of an earlier version (it has no time), and after 90 days
 */
export function readUnsubscribeTarget(text: string, now: Date): UnsubscribeTarget | undefined {
  const [projectId, address, raisedAt = '', ...more] = text.split('\n')
  if (!projectId || !address || more.length > 0) return undefined
  const ageMs = now.getTime() - Date.parse(raisedAt)
  return ageMs <= UNSUBSCRIBE_LINK_MS ? { projectId, address } : undefined
}
