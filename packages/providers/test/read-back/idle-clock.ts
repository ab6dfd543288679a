import type { Clock, Egress, EgressResponse } from '@backstop/kit'

/** A clock for code that waits and calls out. */
export interface IdleClock extends Clock {
  /** Lets time pass. */
  pass(ms: number): void
  /** The egress, watched: time stands still while a request is under way. */
  watch(egress: Egress): Egress
  /** Status of every answer so far, oldest first. */
  readonly statuses: readonly number[]
}

/** Turns of the event loop without a request that count as idle: enough for long chains of promises. */
const IDLE_TURNS = 20

/**
 * Time that jumps to the next timer whenever nobody is doing anything: minutes of waiting pass at once, in the right order,
 * and yet every request is a real one that takes as long as it takes.
 */
export function createIdleClock(startMs: number): IdleClock {
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>()
  const statuses: number[] = []
  let nowMs = startMs
  let underWay = 0
  let isPumping = false

  async function pump(): Promise<void> {
    for (let idle = 0; timers.size > 0; idle++) {
      await new Promise(resolve => setImmediate(resolve))
      if (underWay > 0) idle = -1
      if (idle < IDLE_TURNS) continue
      idle = -1
      const [next] = [...timers].sort((one, other) => one.atMs - other.atMs)
      if (next === undefined) break
      timers.delete(next)
      nowMs = Math.max(nowMs, next.atMs)
      next.callback()
    }
    isPumping = false
  }

  async function counted(answer: Promise<EgressResponse>): Promise<EgressResponse> {
    underWay++
    try {
      const response = await answer
      statuses.push(response.status)
      return response
    } finally {
      underWay--
    }
  }

  return {
    now: () => nowMs,
    schedule(delayMs, callback) {
      const timer = { atMs: nowMs + Math.max(0, delayMs), callback }
      timers.add(timer)
      if (!isPumping) {
        isPumping = true
        void pump()
      }
      return () => timers.delete(timer)
    },
    pass(ms) {
      nowMs += ms
    },
    watch: egress => ({ ...egress, request: request => counted(egress.request(request)) }),
    statuses,
  }
}
