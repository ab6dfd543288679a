/**
 * Named points at which a test kills the process by SIGKILL. In production neither variable is set, and a crash point costs
 * two comparisons.
 */
import { readFileSync, rmSync } from 'node:fs'

const wanted = process.env.CRASH_AT
/** A file that names the next point, so that a test needs no restart to choose it. It is removed when the process is killed. */
const file = process.env.CRASH_AT_FILE
let remaining = Number(process.env.CRASH_AFTER ?? '0')

/** Kills this process if CRASH_AT or CRASH_AT_FILE names this point, at the first pass or after CRASH_AFTER passes. */
export function crashPoint(name: string): void {
  if (file !== undefined && readName(file) === name) rmSync(file)
  else if (wanted !== name) return
  if (remaining-- > 0) return
  process.stderr.write(`crash point ${name}\n`)
  process.kill(process.pid, 'SIGKILL')
}

function readName(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // No point is chosen.
    return undefined
  }
}
