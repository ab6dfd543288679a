import { setTimeout as pause } from 'node:timers/promises'

/**
 * Asks again until there is an answer.
 * @param what stands in the error, with the last thing that was seen
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  withinMs = 30_000,
  seen: () => unknown = () => undefined,
): Promise<T> {
  const deadline = performance.now() + withinMs
  let last: unknown
  while (performance.now() < deadline) {
    try {
      const answer = await ask()
      if (answer !== undefined && answer !== false) return answer
    } catch (error) {
      last = error
    }
    await pause(50)
  }
  const detail = seen() ?? last
  throw new Error(
    `Waited ${withinMs} ms for ${what}${detail === undefined ? '' : `; last seen: ${JSON.stringify(detail)} ${String(last ?? '')}`}`,
  )
}
