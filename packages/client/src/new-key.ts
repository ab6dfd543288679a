/** A new idempotency key. `crypto.randomUUID` is not used, because browsers have it only on https pages. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `backstop-${Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')}`
}
