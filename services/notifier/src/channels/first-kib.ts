import { maskSecrets, type Secret } from '@backstop/kit'

const STORED_BYTES = 1024

/**
 * What is kept of a receiver's words: the first KiB, without these secrets and without what looks like one. Receivers like to
 * echo what they were sent.
 * @param secrets that the message carried or was made with
 */
export function firstKiB(words: string, secrets: readonly Secret[]): string {
  // Before the cut, or else a secret that lies across it would leave its beginning.
  const masked = secrets.reduce((text, secret) => withoutSecret(text, secret.reveal()), words)
  return maskSecrets(
    Buffer.from(masked)
      .subarray(0, STORED_BYTES)
      .toString('utf8')
      .replace(/\ufffd$/, ''),
  )
}

/** Anything shorter stands in ordinary words as well, and guards nothing. */
const MIN_SECRET_LENGTH = 6

function withoutSecret(text: string, secret: string): string {
  if (secret.length < MIN_SECRET_LENGTH) return text
  // As it is, and as JSON escapes it, with the slashes that some writers escape too.
  const escaped = JSON.stringify(secret).slice(1, -1)
  const forms = new Set([secret, escaped, escaped.replaceAll('/', '\\/')])
  return [...forms].reduce((rest, form) => rest.replaceAll(form, '[secret]'), text)
}
