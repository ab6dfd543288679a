/** Calls the management API at an even rate and measures how long each answer takes. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'

const TICK_MS = 5

/** @returns the time of each answer in milliseconds. @throws Error if an answer is not 200 */
export async function timeCalls(
  url: string,
  key: string,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<number[]> {
  // Enough connections that a slow answer does not delay the next call.
  const dispatcher = new Agent({ connections: 100, pipelining: 1 })
  const startedAtMs = performance.now()
  const calls: Promise<number>[] = []
  try {
    while (calls.length < perSecond * seconds) {
      const dueInMs = (calls.length * 1_000) / perSecond - (performance.now() - startedAtMs)
      if (dueInMs > TICK_MS) await sleep(dueInMs)
      calls.push(timeOne())
    }
    return await Promise.all(calls)
  } finally {
    await dispatcher.destroy()
  }

  async function timeOne(): Promise<number> {
    const from = performance.now()
    const { statusCode, body } = await request(url, { dispatcher, headers: { authorization: `Bearer ${key}` } })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`${url} was answered ${statusCode}: ${text.slice(0, 500)}`)
    return performance.now() - from
  }
}
