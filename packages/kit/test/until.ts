/** Values that mean "not yet". */
type Absent = false | undefined | null | 0 | ''

/** Time limits are for a usual machine, and tests must pass on one that is several times slower or busy. Only a failure takes longer by it. */
const PATIENCE = 4

/** A time limit for a usual machine, in milliseconds, as one that a slow or busy machine keeps too. */
export const patient = (timeoutMs: number): number => timeoutMs * PATIENCE

const SHORTEST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 200
/** The pause as a part of the time waited so far, and so the most by which a wait becomes longer. */
const PAUSE_OF_WAITED = 1 / 20

/**
 * Repeats `ask` until it returns a value that is not `Absent`, and returns that value, because tests poll instead of
 * sleeping. The pauses grow with the wait, because many tests wait for a minute beside each other, and their questions to the product
 * would take most of the processor time. A question that takes long is followed by a pause as long.
 * @param what description for the error message, which also contains the last error and the result of `options.seen`
 * @param options `timeoutMs` is the time limit on a usual machine. `promisedMs` is a time that the product promises, so that no machine has
 * more of it
 */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  options: { timeoutMs?: number; promisedMs?: number; everyMs?: number; seen?: () => unknown } = {},
): Promise<Exclude<T, Absent>> {
  const { everyMs } = options
  const timeoutMs = options.promisedMs ?? patient(options.timeoutMs ?? 20_000)
  const startedAt = performance.now()
  const deadline = startedAt + timeoutMs
  let lastError: unknown
  for (;;) {
    const askedAt = performance.now()
    try {
      const answer = await ask()
      if (answer) return answer as Exclude<T, Absent>
      lastError = undefined
    } catch (error) {
      lastError = error
    }
    const now = performance.now()
    if (now > deadline) {
      const seen = options.seen === undefined ? '' : `; seen: ${JSON.stringify(options.seen())}`
      throw new Error(
        `Not within ${timeoutMs} ms: ${what}${seen}`,
        lastError === undefined ? undefined : { cause: lastError },
      )
    }
    await new Promise(resolve => setTimeout(resolve, everyMs ?? pauseMs(now - startedAt, now - askedAt)))
  }
}

function pauseMs(waitedMs: number, askedMs: number): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, waitedMs * PAUSE_OF_WAITED, askedMs))
}
