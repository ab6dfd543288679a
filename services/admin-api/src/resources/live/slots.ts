/**
 * Runs work once a slot is free.
 * @param signal ends the wait, not the work
 * @throws the reason of the signal if it is aborted before a slot is free; any error of the work
 */
export type Slots = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

/** Creates a function that runs its arguments in the order of the calls, in a limited number of slots. */
export function createSlots(atOnce: number): Slots {
  const waiting = new Set<() => void>()
  let running = 0
  return async (work, signal) => {
    if (running < atOnce) running++
    else await waitForSlot(waiting, signal)
    try {
      return await work()
    } finally {
      const [next] = waiting
      if (next === undefined) running--
      else next()
    }
  }
}

function waitForSlot(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
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
