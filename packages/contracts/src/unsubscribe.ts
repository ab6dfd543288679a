/** The content of the token in an unsubscribe link: written by the notifier, read by admin-api. */

/** The purpose in the token's signature: a token signed for another purpose is refused. */
export const UNSUBSCRIBE_PURPOSE = 'unsubscribe'

/** Whose mails an unsubscribe link ends. */
export interface UnsubscribeSubject {
  readonly projectId: string
  readonly address: string
}

/** The text that the token signs. */
export function unsubscribeSubject({ projectId, address }: UnsubscribeSubject): string {
  return `${projectId}\n${address.toLowerCase()}`
}

/** Reads that text. @returns undefined for a text that `unsubscribeSubject` did not write */
export function readUnsubscribeSubject(text: string): UnsubscribeSubject | undefined {
  const [projectId, address, ...more] = text.split('\n')
  if (!projectId || !address || more.length > 0) return undefined
  return { projectId, address }
}
