/** The result of one mutant in Stryker's report. */
export interface MutantResult {
  readonly group: string
  readonly file: string
  readonly line: number
  readonly mutatorName: string
  /** The code that replaces the original. */
  readonly replacement: string
  /** Killed, Timeout, Survived, NoCoverage, Ignored, CompileError, RuntimeError. */
  readonly status: string
}

const DETECTED: readonly string[] = ['Killed', 'Timeout']
const UNDETECTED: readonly string[] = ['Survived', 'NoCoverage']

/**
 * A text with each surviving mutant and a table by group, and the score: the share of valid mutants that a test detected, from 0
 * to 1.
 */
export function summarise(results: readonly MutantResult[]): { text: string; score: number } {
  const row = (name: string, list: readonly MutantResult[]) => {
    const noticed = list.filter(({ status }) => DETECTED.includes(status)).length
    const missed = list.filter(({ status }) => UNDETECTED.includes(status)).length
    const score = noticed + missed === 0 ? 1 : noticed / (noticed + missed)
    const line = `${name.padEnd(14)} ${`${noticed}`.padStart(6)} killed ${`${missed}`.padStart(5)} survived   ${(score * 100).toFixed(1)} %`
    return { line, score }
  }
  const groups = [...Map.groupBy(results, ({ group }) => group)].map(([name, list]) => row(name, list).line)
  const all = row('all', results)
  const survivors = results
    .filter(({ status }) => UNDETECTED.includes(status))
    .map(({ file, line, mutatorName, replacement }) => `${file}:${line}  ${mutatorName}: ${replacement.split('\n')[0]}`)
  return { text: [...survivors, '', ...groups, all.line].join('\n'), score: all.score }
}
