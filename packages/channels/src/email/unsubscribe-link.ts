import { UNSUBSCRIBE_PURPOSE, unsubscribeSubject } from '@backstop/contracts'
import type { SecretBox } from '@backstop/kit'

/** Where one address leaves one project's mails: the same at every attempt, made up by nobody without our keys. */
export function unsubscribeUrl(
  apiPublicUrl: string,
  who: { projectId: string; address: string },
  secretBox: Pick<SecretBox, 'sign'>,
): string {
  return `${apiPublicUrl}/v1/unsubscribe/${secretBox.sign(UNSUBSCRIBE_PURPOSE, unsubscribeSubject(who))}`
}
