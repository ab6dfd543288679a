/** The content of the token in an unsubscribe link. The notifier writes it and admin-api reads it. */

/** The purpose that is part of the token's signature. A token that was signed for another purpose is refused. */
export const UNSUBSCRIBE_PURPOSE = 'unsubscribe'

/** The project and the address whose mails an unsubscribe link ends. */
export interface UnsubscribeTarget {
  readonly projectId: string
  readonly address: string
}

/** Makes the text that the token signs. */
export function unsubscribeTargetText({ projectId, address }: UnsubscribeTarget): string {
  return `${projectId}\n${address.toLowerCase()}`
}

/** Reads the text that `unsubscribeTargetText` made. @returns undefined for any other text */
export function readUnsubscribeTarget(text: string): UnsubscribeTarget | undefined {
  const [projectId, address, ...more] = text.split('\n')
  if (!projectId || !address || more.length > 0) return undefined
  return { projectId, address }
}
