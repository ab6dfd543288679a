import type { Compared } from './compare.ts'
import { targetLine } from './table.ts'

export interface BenchmarkResult {
  readonly name: string
  /** Undefined if the benchmark failed. */
  readonly comparisons: readonly Compared[] | undefined
}

export function isAllMet({ comparisons }: BenchmarkResult): boolean {
  return comparisons?.every(({ targets }) => targets.every(({ isMet }) => isMet)) ?? false
}

/** Formats the targets of all benchmarks for a terminal, and their number at the end. */
export function toSummary(results: readonly BenchmarkResult[]): string {
  const targets = results.flatMap(({ comparisons = [] }) => comparisons.flatMap(({ targets }) => targets))
  const failed = results.filter(({ comparisons }) => comparisons === undefined).length
  const count = `${targets.filter(({ isMet }) => isMet).length} of ${targets.length} targets are met`
  return [...results.flatMap(linesOf), failed === 0 ? count : `${count}; ${failed} benchmarks failed`].join('\n')
}

function linesOf({ name, comparisons }: BenchmarkResult): string[] {
  if (comparisons === undefined) return [`${name}\n  ✗ failed, see above`]
  return [
    name,
    ...comparisons.flatMap(({ name, targets }) => [`  ${name}`, ...targets.map(one => `    ${targetLine(one)}`)]),
  ]
}
