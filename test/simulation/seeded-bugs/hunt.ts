import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { readSeededBugs, type SeededBug } from './seeded-bugs.ts'

const MAIN = resolve(import.meta.dirname, '../main.ts')
const AT_ONCE = 2

interface Hunted {
  readonly bug: SeededBug
  /** The number of runs until a run was wrong; undefined if none was. */
  readonly runs: number | undefined
  /** The properties that noticed it. */
  readonly noticedBy: readonly string[]
}

/** Searches each seeded bug in a process of its own, and prints a line for each. @returns how many were not found */
export async function huntAll(options: readonly string[], print: (line: string) => void): Promise<number> {
  const bugs = readSeededBugs()
  const hunted: Hunted[] = []
  const next = async (): Promise<void> => {
    const bug = bugs.shift()
    if (bug === undefined) return
    const found = await hunt(bug, options)
    hunted.push(found)
    print(lineOf(found))
    return next()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
  const missed = hunted.filter(({ runs }) => runs === undefined).length
  print(`${hunted.length - missed} of ${hunted.length} seeded bugs are found`)
  return missed
}

function lineOf({ bug, runs, noticedBy }: Hunted): string {
  const found =
    runs === undefined ? 'NOT FOUND' : `after ${runs} run${runs === 1 ? '' : 's'} by ${noticedBy.join(', ')}`
  return `${bug.name.padEnd(50)} ${found}`
}

function hunt(bug: SeededBug, options: readonly string[]): Promise<Hunted> {
  return new Promise(resolve => {
    execFile(process.execPath, [MAIN, '--bug', bug.name, ...options], { maxBuffer: 64 * 1_048_576 }, (_, output) => {
      const runs = output.match(/^seed \d+:/gm)?.length ?? 0
      const noticedBy = [...output.matchAll(/^ {2}- ([a-z-]+):/gm)].map(([, name]) => String(name))
      resolve({ bug, runs: noticedBy.length === 0 ? undefined : runs, noticedBy: [...new Set(noticedBy)] })
    })
  })
}
