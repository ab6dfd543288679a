/**
 * Reads the wait of a Retry-After header in milliseconds. Both forms of RFC 9110, section 10.2.3, are accepted: seconds and an HTTP date.
 * @returns null if the header is missing or unreadable
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  // Only the date form that RFC 9110 requires from senders is accepted. Date.parse alone would read "5 bananas" as a month.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return null
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
