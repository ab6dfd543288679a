import type { Clock } from './clock.ts'

/**
 * Returns the result of `work`, or `late` if it takes longer than `ms` or if `outer` is aborted first. In both cases
 * the work is aborted and its result is ignored.
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
      outer?.removeEventListener('abort', expire)
      cancel()
    }
    const expire = () => {
      end()
      stopping.abort()
      resolve(late)
    }
    const cancel = clock.schedule(ms, expire)
    if (outer?.aborted) return expire()
    outer?.addEventListener('abort', expire, { once: true })
    work(stopping.signal).finally(end).then(resolve, reject)
  })
}
