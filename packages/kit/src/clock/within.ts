import type { Clock } from './clock.ts'

/**
 * The result of `work`, or `late` when it takes longer than `ms` or `outer` is aborted first. The work is aborted then, and
 * its result is ignored, so a task that never ends delays nobody.
 */
export function within<T>(
  clock: Clock,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  late: T,
  outer?: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopping = new AbortController()
    const end = () => {
      outer?.removeEventListener('abort', giveUp)
      cancel()
    }
    const giveUp = () => {
      end()
      stopping.abort()
      resolve(late)
    }
    const cancel = clock.schedule(ms, giveUp)
    if (outer?.aborted) return giveUp()
    outer?.addEventListener('abort', giveUp, { once: true })
    work(stopping.signal).finally(end).then(resolve, reject)
  })
}
