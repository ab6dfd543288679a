/**
 * Runs work once its turn comes.
 * @param signal ends the wait, not the work
 * @throws the reason of the signal if it is aborted before the turn comes; any error of the work
 */
export type Turns = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

/** Creates a function that runs its arguments in the order of the calls, a limited number of them at once. */
export function createTurns(atOnce: number): Turns {
  const waiting = new Set<() => void>()
  let running = 0
  return async (work, signal) => {
    if (running < atOnce) running++
    else await waitForTurn(waiting, signal)
    try {
      return await work()
    } finally {
      const [next] = waiting
      if (next === undefined) running--
      else next()
    }
  }
}

function waitForTurn(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      waiting.delete(begin)
      signal.removeEventListener('abort', leave)
      resolve()
    }
    const leave = () => {
      waiting.delete(begin)
      reject(signal.reason)
    }
    if (signal.aborted) return leave()
    waiting.add(begin)
    signal.addEventListener('abort', leave, { once: true })
  })
}
