import { cpus, loadavg, release, totalmem, type } from 'node:os'

/** Describes the machine and time of a measurement, which are needed to interpret its numbers. */
export function describeMachine(now: Date) {
  const [cpu] = cpus()
  return {
    at: now.toISOString(),
    cpu: cpu?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    /** The load average before the measurement, because other work makes the numbers worse. */
    load_before: Number(loadavg()[0]?.toFixed(2)),
  }
}
