/**
 * Named places where a test kills the process for real (R4: "SIGKILL loop on each commit point"). Costs one comparison
 * when CRASH_AT is not set, which is always so outside tests.
 */
const wanted = process.env.CRASH_AT
let remaining = Number(process.env.CRASH_AFTER ?? '0')

/** Kills this process by SIGKILL when CRASH_AT names this point (on the CRASH_AFTER-th later pass, if that is set). */
export function crashPoint(name: string): void {
  if (wanted !== name) return
  if (remaining-- > 0) return
  process.stderr.write(`crash point ${name}\n`)
  process.kill(process.pid, 'SIGKILL')
}
