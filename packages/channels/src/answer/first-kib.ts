import type { Secret } from '@backstop/kit/config'
import { maskSecrets } from '@backstop/kit/logger'

const STORED_BYTES = 1024

/**
 * The part of an answer that is stored: its first KiB with masked secrets, because receivers repeat requests. Masks the
 * given secrets and all text in the form of a known secret.
 * @param secrets the secrets in the request or its signature, and each part of them that a receiver may repeat alone
 */
export function maskedFirstKiB(text: string, secrets: readonly Secret[]): string {
  // Most receivers answer with an empty body or "ok".
  if (text.length < MIN_SECRET_LENGTH) return text
  // Mask before truncating: otherwise the beginning of a secret at the end of the text would remain.
  const masked = encodedForms(secrets).reduce((rest, form) => rest.replaceAll(form, '[secret]'), text)
  return maskSecrets(
    Buffer.from(masked)
      .subarray(0, STORED_BYTES)
      .toString('utf8')
      .replace(/\ufffd$/, ''),
  )
}

/** Shorter secrets are not masked, because they also occur in ordinary words. */
const MIN_SECRET_LENGTH = 4

/**
 * The spellings of the secrets, longest first. If a part were masked before the whole, the rest of the whole would
 * remain.
 */
function encodedForms(secrets: readonly Secret[]): string[] {
  return [...new Set(secrets.flatMap(spellingsOfSecret))].sort((a, b) => b.length - a.length)
}

/** A cache: the deliveries of a channel share the same secret objects. */
const SPELLINGS = new WeakMap<Secret, readonly string[]>()

function spellingsOfSecret(secret: Secret): readonly string[] {
  const known = SPELLINGS.get(secret)
  if (known !== undefined) return known
  const text = secret.reveal()
  // The text itself, its JSON escape, and its JSON escape with escaped slashes.
  const escaped = JSON.stringify(text).slice(1, -1)
  const forms = text.length < MIN_SECRET_LENGTH ? [] : [text, escaped, escaped.replaceAll('/', '\\/')]
  SPELLINGS.set(secret, forms)
  return forms
}
