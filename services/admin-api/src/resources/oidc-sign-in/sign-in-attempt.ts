import type { SecretBox } from '@backstop/kit/secret-box'
import { z } from 'zod'

/** A sign-in that a browser began. The browser keeps it in a signed cookie until the provider leads it back. */
const SignInAttempt = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  return_to: z.string().refine(isLocalPath),
  expires_at: z.int(),
})
export type SignInAttempt = z.infer<typeof SignInAttempt>

/** Enough to sign in at the provider, also with a second factor. */
export const ATTEMPT_MS = 10 * 60_000
const PURPOSE = 'oidc-sign-in'

export function signAttempt(secretBox: Pick<SecretBox, 'sign'>, attempt: SignInAttempt): string {
  return secretBox.sign(PURPOSE, JSON.stringify(attempt))
}

/** The attempt of a cookie; undefined if the cookie is missing, was not written by this installation, or has expired. */
export function readAttempt(
  secretBox: Pick<SecretBox, 'verify'>,
  cookie: string | undefined,
  now: Date,
): SignInAttempt | undefined {
  const text = cookie === undefined ? undefined : secretBox.verify(PURPOSE, cookie)
  if (text === undefined) return undefined
  const attempt = SignInAttempt.safeParse(JSON.parse(text)).data
  return attempt !== undefined && attempt.expires_at > now.getTime() ? attempt : undefined
}

/** Long enough for the address of any page of the console. It is kept in a cookie, so it is limited. */
const MAX_LENGTH = 512
const PLAIN = /^\/[\x21-\x7e]*$/

/** True if a browser that is redirected to the text stays on this host. Browsers read `//x` and `/\x` as another host. */
export function isLocalPath(text: string): boolean {
  if (text.length > MAX_LENGTH || !PLAIN.test(text) || text.includes('\\') || text.startsWith('//')) return false
  return URL.parse(text, 'https://this-host.invalid')?.origin === 'https://this-host.invalid'
}
