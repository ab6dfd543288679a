import type { Clock } from '@backstop/kit/clock'
import type { Egress, EgressResponse } from '@backstop/kit/egress'

/** A test clock for code that waits and sends real requests. */
export interface IdleClock extends Clock {
  /** Moves the time forward. */
  advance(ms: number): void
  /** An egress whose requests stop the clock while they are in flight. */
  stopDuringRequests(egress: Egress): Egress
  /** The status of every answer so far, oldest first. */
  readonly statuses: readonly number[]
}

/** The process is idle after this many turns of the event loop without a request. Long chains of promises need several turns. */
const IDLE_TURNS = 20

/**
 * Creates a clock that jumps to the next timer when the process is idle. Minutes of waiting pass at once and in the right order,
 * while requests are real and take their real time.
 */
export function createIdleClock(startMs: number): IdleClock {
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>()
  const statuses: number[] = []
  let nowMs = startMs
  let inFlight = 0
  let isPumping = false

  async function pump(): Promise<void> {
    for (let idle = 0; timers.size > 0; idle++) {
      await new Promise(resolve => setImmediate(resolve))
      if (inFlight > 0) idle = -1
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
    inFlight++
    try {
      const response = await answer
      statuses.push(response.status)
      return response
    } finally {
      inFlight--
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
    advance(ms) {
      nowMs += ms
    },
    stopDuringRequests: egress => ({ ...egress, request: request => counted(egress.request(request)) }),
    statuses,
  }
}
