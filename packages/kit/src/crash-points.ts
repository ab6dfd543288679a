/**
 * Named points at which a test kills the process by SIGKILL. In production CRASH_AT is not set, and a crash point costs
 * one comparison.
 */
const wanted = process.env.CRASH_AT
let remaining = Number(process.env.CRASH_AFTER ?? '0')

/** Kills this process if CRASH_AT names this point, at the first pass or after CRASH_AFTER passes. */
export function crashPoint(name: string): void {
  if (wanted !== name) return
  if (remaining-- > 0) return
  process.stderr.write(`crash point ${name}\n`)
  process.kill(process.pid, 'SIGKILL')
}
