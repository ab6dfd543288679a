import { maskSecrets, type Secret } from '@backstop/kit'

const STORED_BYTES = 1024

/**
 * The part of an answer that is stored: its first KiB, without the secrets of the request and without text that looks like a
 * secret, because receivers echo requests.
 * @param secrets those that the message carried or was signed with, and each part that a receiver may echo by itself
 */
export function firstKiB(text: string, secrets: readonly Secret[]): string {
  // Most receivers answer nothing, or "ok".
  if (text.length < MIN_SECRET_LENGTH) return text
  // Masked before the cut: a secret that the cut divides would keep its beginning.
  const masked = formsOf(secrets).reduce((rest, form) => rest.replaceAll(form, '[secret]'), text)
  return maskSecrets(
    Buffer.from(masked)
      .subarray(0, STORED_BYTES)
      .toString('utf8')
      .replace(/\ufffd$/, ''),
  )
}

/** A shorter secret is part of ordinary words too, and protects nothing. */
const MIN_SECRET_LENGTH = 4

/** The spellings of the secrets, longest first: to mask a part before its whole would leave the rest of the whole. */
function formsOf(secrets: readonly Secret[]): string[] {
  return [...new Set(secrets.flatMap(formsOfOne))].sort((a, b) => b.length - a.length)
}

/** The secrets of a channel are the same objects for many of its deliveries. */
const FORMS = new WeakMap<Secret, readonly string[]>()

function formsOfOne(secret: Secret): readonly string[] {
  const known = FORMS.get(secret)
  if (known !== undefined) return known
  const text = secret.reveal()
  // As it is, as JSON escapes it, and with the slashes that some JSON writers escape too.
  const escaped = JSON.stringify(text).slice(1, -1)
  const forms = text.length < MIN_SECRET_LENGTH ? [] : [text, escaped, escaped.replaceAll('/', '\\/')]
  FORMS.set(secret, forms)
  return forms
}
