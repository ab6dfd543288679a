/** Looks again and again until `condition` holds (or throws nothing): tests poll, they never sleep and hope. */
export async function until(
  what: string,
  condition: () => unknown | Promise<unknown>,
  options: { timeoutMs?: number; everyMs?: number } = {},
): Promise<void> {
  const { timeoutMs = 20_000, everyMs = 10 } = options
  const deadline = performance.now() + timeoutMs
  let lastError: unknown
  for (;;) {
    try {
      if (await condition()) return
      lastError = undefined
    } catch (error) {
      lastError = error
    }
    if (performance.now() > deadline) {
      throw new Error(`Not within ${timeoutMs} ms: ${what}`, lastError === undefined ? undefined : { cause: lastError })
    }
    await new Promise(resolve => setTimeout(resolve, everyMs))
  }
}
