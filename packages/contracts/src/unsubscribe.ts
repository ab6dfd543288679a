/** What the token of an unsubscribe link says: written by the notifier, read by admin-api. */

/** Tokens signed for something else are none. */
export const UNSUBSCRIBE_PURPOSE = 'unsubscribe'

export interface UnsubscribeSubject {
  readonly projectId: string
  readonly address: string
}

export function unsubscribeSubject({ projectId, address }: UnsubscribeSubject): string {
  return `${projectId}\n${address.toLowerCase()}`
}

/** @returns undefined for what `unsubscribeSubject` did not write */
export function readUnsubscribeSubject(text: string): UnsubscribeSubject | undefined {
  const [projectId, address, ...more] = text.split('\n')
  if (!projectId || !address || more.length > 0) return undefined
  return { projectId, address }
}
