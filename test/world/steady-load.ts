import { setTimeout as sleep } from 'node:timers/promises'
import type { Alert } from '@backstop/contracts'

const TICK_MS = 10

/**
 * Publishes alerts at an even pace. One that could not go out in its tick goes out with the next: the pace is kept.
 * @param make the n-th alert, as of the moment of the call
 */
export async function publishSteadily(
  publish: (alerts: readonly Alert[]) => Promise<void>,
  alerts: number,
  perSecond: number,
  make: (index: number) => Alert,
): Promise<void> {
  const startedAt = performance.now()
  const sends: Promise<void>[] = []
  for (let sent = 0; sent < alerts; ) {
    const due = Math.min(alerts, Math.ceil(((performance.now() - startedAt) / 1_000) * perSecond))
    if (due > sent) sends.push(publish(Array.from({ length: due - sent }, (_, index) => make(sent + index))))
    sent = due
    await sleep(TICK_MS)
  }
  await Promise.all(sends)
}
