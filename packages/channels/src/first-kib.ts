import { maskSecrets, type Secret } from '@backstop/kit'

const STORED_BYTES = 1024

/**
 * What is kept of a receiver's words: the first KiB, without these secrets and without what looks like one. Receivers like to
 * echo what they were sent.
 * @param secrets that the message carried or was made with, and those of their parts that a receiver may repeat alone
 */
export function firstKiB(words: string, secrets: readonly Secret[]): string {
  // Most receivers that take a message say nothing, or "ok".
  if (words.length < MIN_SECRET_LENGTH) return words
  // Before the cut, or else a secret that lies across it would leave its beginning.
  const masked = formsOf(secrets).reduce((text, form) => text.replaceAll(form, '[secret]'), words)
  return maskSecrets(
    Buffer.from(masked)
      .subarray(0, STORED_BYTES)
      .toString('utf8')
      .replace(/\ufffd$/, ''),
  )
}

/** Anything shorter stands within ordinary words as well, and guards nothing. */
const MIN_SECRET_LENGTH = 4

/** How they may be written. Longest first: a part that went before its whole would leave the rest of it. */
function formsOf(secrets: readonly Secret[]): string[] {
  return [...new Set(secrets.flatMap(formsOfOne))].sort((a, b) => b.length - a.length)
}

/** The secrets of a channel stay the same over many of its deliveries. */
const FORMS = new WeakMap<Secret, readonly string[]>()

function formsOfOne(secret: Secret): readonly string[] {
  const known = FORMS.get(secret)
  if (known !== undefined) return known
  const text = secret.reveal()
  // As it is, and as JSON escapes it, with the slashes that some writers escape too.
  const escaped = JSON.stringify(text).slice(1, -1)
  const forms = text.length < MIN_SECRET_LENGTH ? [] : [text, escaped, escaped.replaceAll('/', '\\/')]
  FORMS.set(secret, forms)
  return forms
}
