import { judgeRequest, nextWindowMs, type Turn, type TurnJudgement, widestWindowMs } from './rules/turn-window.ts'

/** Judges whether the event loop can take one more request. */
export interface TurnWatch {
  /** Call it for a request before any other work on it. */
  judge(): TurnJudgement
}

/** Watches the turns of the event loop that handle requests. @param longestWaitMs how long a request may wait for the event loop */
export function watchTurns(longestWaitMs: number): TurnWatch {
  let before: Turn = { tookMs: 0, refusingMs: 0 }
  let windowMs = widestWindowMs(longestWaitMs)
  let beganMs: number | undefined
  let refusedMs: number | undefined
  let isEndScheduled = false

  const beginTurn = (nowMs: number) => {
    beganMs = nowMs
    if (isEndScheduled) return
    isEndScheduled = true
    // Immediates run after all sockets that were readable.
    setImmediate(() => {
      isEndScheduled = false
      endTurn(performance.now())
    })
  }
  const endTurn = (nowMs: number) => {
    if (beganMs === undefined) return
    const turn = { tookMs: nowMs - beganMs, refusingMs: refusedMs === undefined ? 0 : nowMs - refusedMs }
    windowMs = nextWindowMs(turn, before, longestWaitMs)
    before = turn
    beganMs = undefined
    refusedMs = undefined
  }
  return {
    judge() {
      const nowMs = performance.now()
      // While 1,024 sockets or more are readable, libuv reads up to 48 times as many in one turn, for more than a second. Without this end,
      // all but the first of them would be refused.
      if (refusedMs !== undefined && nowMs - refusedMs > longestWaitMs) endTurn(nowMs)
      if (beganMs === undefined) beginTurn(nowMs)
      const judgement = judgeRequest(nowMs - (beganMs ?? nowMs), windowMs)
      if (judgement.kind === 'overloaded') refusedMs ??= nowMs
      return judgement
    },
  }
}
