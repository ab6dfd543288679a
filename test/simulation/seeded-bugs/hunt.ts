import { openWorkers } from '../command/worker-pool.ts'
import type { SeededBug } from './seeded-bugs.ts'

/** Seeds in their order, tried by `workers` processes at a time. */
export interface HuntOptions {
  readonly seeds: readonly number[]
  /** Virtual minutes with faults; drawn from each seed if undefined. */
  readonly minutes?: number | undefined
  readonly workers: number
}

interface Found {
  /** The first seed that finds the bug. */
  readonly seed: number
  /** The properties that noticed it. */
  readonly noticedBy: readonly string[]
}

/** Searches seeded bugs, each in processes of its own, and prints a line for each. @returns how many were not found */
export async function huntAll(
  bugs: readonly SeededBug[],
  options: HuntOptions,
  print: (line: string) => void,
): Promise<number> {
  let missed = 0
  for (const bug of bugs) {
    const found = await hunt(bug, options)
    if (found === undefined) missed += 1
    print(lineOf(bug, found, options.seeds))
  }
  print(`${bugs.length - missed} of ${bugs.length} seeded bugs are found`)
  return missed
}

/** Searches one seeded bug until a seed finds it. */
async function hunt(bug: SeededBug, { seeds, minutes, workers }: HuntOptions): Promise<Found | undefined> {
  const pool = await openWorkers(workers, [bug.name])
  try {
    for (let at = 0; at < seeds.length; at += workers) {
      const tried = await Promise.all(
        seeds.slice(at, at + workers).map(async seed => {
          const { faults } = await pool.run({ options: { seed, ...(minutes && { minutes }) }, keepTimeline: false })
          return { seed, noticedBy: [...new Set(faults.map(fault => fault.split(':')[0] ?? fault))] }
        }),
      )
      const found = tried.find(({ noticedBy }) => noticedBy.length > 0)
      if (found !== undefined) return found
    }
    return undefined
  } finally {
    pool.stop()
  }
}

function lineOf({ name }: SeededBug, found: Found | undefined, seeds: readonly number[]): string {
  if (found === undefined) return `${name.padEnd(50)} NOT FOUND in ${seeds.length} seeds`
  const count = seeds.indexOf(found.seed) + 1
  return `${name.padEnd(50)} after ${String(count).padStart(3)} seeds (${found.seed}) by ${found.noticedBy.join(', ')}`
}
