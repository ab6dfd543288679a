import { setTimeout as sleep } from 'node:timers/promises'

const TICK_MS = 10

/**
 * Publishes at an even rate. Messages that miss their tick are published in the next one, so that the rate is kept.
 * @param make creates the message with this index; called when the message is due
 */
export async function publishSteadily<T>(
  publish: (some: readonly T[]) => Promise<void>,
  count: number,
  perSecond: number,
  make: (index: number) => T,
): Promise<void> {
  const startedAt = performance.now()
  const sends: Promise<void>[] = []
  for (let sent = 0; sent < count; ) {
    const due = Math.min(count, Math.ceil(((performance.now() - startedAt) / 1_000) * perSecond))
    if (due > sent) sends.push(publish(Array.from({ length: due - sent }, (_, index) => make(sent + index))))
    sent = due
    await sleep(TICK_MS)
  }
  await Promise.all(sends)
}
