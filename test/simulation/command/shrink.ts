import type { RunOptions } from '../run.ts'

/** What a failing run consisted of. */
export interface Parts {
  /** Kinds of fault that were on. */
  readonly kinds: readonly string[]
  /** Items of the plan. */
  readonly items: readonly string[]
}

export interface ShrinkOptions {
  readonly options: RunOptions & { readonly minutes: number }
  readonly parts: Parts
  /** Runs with other options. @returns whether the run is still wrong in the same way */
  fails(options: RunOptions): Promise<boolean>
  /** Largest number of runs. */
  readonly maxRuns?: number
}

/**
 * Looks for a smaller run that is wrong in the same way: shorter, with fewer kinds of fault, with fewer things that actors do. Takes away
 * halves, then quarters, and so on (delta debugging, Zeller 2002).
 */
export async function shrink({ options, parts, fails, maxRuns = 80 }: ShrinkOptions): Promise<RunOptions> {
  let best = options
  let runs = 0
  const accept = async (candidate: typeof best) => {
    if (runs >= maxRuns) return false
    runs += 1
    if (!(await fails(candidate))) return false
    best = candidate
    return true
  }
  while (best.minutes > 1 && (await accept({ ...best, minutes: Math.ceil(best.minutes / 2) }))) {
    // Shorter still.
  }
  for (const names of [parts.kinds, parts.items]) {
    let left = names.filter(name => !best.without?.includes(name))
    for (let size = left.length; size >= 1; size = Math.floor(size / 2)) {
      for (let at = 0; at < left.length; ) {
        const chunk = left.slice(at, at + size)
        if (await accept({ ...best, without: [...(best.without ?? []), ...chunk] })) {
          left = left.filter(name => !chunk.includes(name))
        } else at += size
      }
    }
  }
  return best
}
