import { cpus, loadavg, release, totalmem, type } from 'node:os'

/** Where and when numbers were taken: without it they mean nothing. */
export function describeMachine(now: Date) {
  const [cpu] = cpus()
  return {
    at: now.toISOString(),
    cpu: cpu?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    /** Processes that wanted to run in the minute before: what is not ours makes the numbers worse. */
    load_before: Number(loadavg()[0]?.toFixed(2)),
  }
}
