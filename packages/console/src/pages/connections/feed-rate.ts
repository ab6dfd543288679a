const BARS = 40

/** How many events arrived in each of 40 equal parts of the time from the oldest of them until now; null without events. */
export function feedRate(
  times: readonly number[],
  nowMs: number,
): { readonly counts: readonly number[]; readonly spanMs: number } | null {
  if (times.length === 0) return null
  const from = Math.min(...times)
  const spanMs = Math.max(1, nowMs - from)
  const counts = Array.from({ length: BARS }, () => 0)
  for (const time of times) {
    const bar = Math.min(BARS - 1, Math.max(0, Math.floor(((time - from) / spanMs) * BARS)))
    counts[bar] = (counts[bar] ?? 0) + 1
  }
  return { counts, spanMs }
}
