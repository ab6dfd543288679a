/** Values that mean "not yet". */
type Absent = false | undefined | null | 0 | ''

/**
 * Repeats `ask` until it returns a value that is not `Absent`, and returns that value, because tests poll instead of
 * sleeping.
 * @param what description for the error message, which also contains the last error and the result of `options.seen`
 */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  options: { timeoutMs?: number; everyMs?: number; seen?: () => unknown } = {},
): Promise<Exclude<T, Absent>> {
  const { timeoutMs = 20_000, everyMs = 10 } = options
  const deadline = performance.now() + timeoutMs
  let lastError: unknown
  for (;;) {
    try {
      const answer = await ask()
      if (answer) return answer as Exclude<T, Absent>
      lastError = undefined
    } catch (error) {
      lastError = error
    }
    if (performance.now() > deadline) {
      const seen = options.seen === undefined ? '' : `; seen: ${JSON.stringify(options.seen())}`
      throw new Error(
        `Not within ${timeoutMs} ms: ${what}${seen}`,
        lastError === undefined ? undefined : { cause: lastError },
      )
    }
    await new Promise(resolve => setTimeout(resolve, everyMs))
  }
}
