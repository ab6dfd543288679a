/** What counts as "not yet". */
type Absent = false | undefined | null | 0 | ''

/**
 * Looks again and again until `ask` answers something that holds, and gives that: tests poll, they never sleep and hope.
 * @param what stands in the error, with the last fault and with what `options.seen` shows
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
