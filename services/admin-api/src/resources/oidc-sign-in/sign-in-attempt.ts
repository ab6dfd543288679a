import type { SecretBox } from '@backstop/kit/secret-box'
import { z } from 'zod'
import { isLocalPath } from './rules/return-path.ts'

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
