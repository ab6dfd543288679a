/**
 * The wait that a Retry-After header asks for, in milliseconds; null when there is none or it cannot be read.
 * Both forms of RFC 9110 §10.2.3: seconds, and an HTTP date.
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  // Only the form that RFC 9110 tells to send: Date.parse alone would take "5 bananas" for a month.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return null
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
