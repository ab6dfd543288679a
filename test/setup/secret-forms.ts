/**
 * The forms in which a secret may be written: as it is, as hex, for a URL, and in base64 at any place of a longer text. Each character
 * is one byte.
 */
export function formsOf(secret: Uint8Array): string[] {
  const bytes = Buffer.from(secret)
  const hex = bytes.toString('hex')
  const base64 = [0, 1, 2].map(offset => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    // Without the characters at both ends that also depend on the bytes around the secret.
    return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
  })
  const inUrl = [...bytes].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('')
  const text = bytes.toString('latin1')
  const forms = [
    ...[text, hex, hex.toUpperCase(), inUrl, inUrl.toUpperCase(), encodeURIComponent(text)],
    ...[new URLSearchParams({ '': text }).toString().slice(1), JSON.stringify(text).slice(1, -1)],
    ...base64.flatMap(one => [one, encodeURIComponent(one), one.replaceAll('+', '-').replaceAll('/', '_')]),
  ]
  return [...new Set(forms)]
}
