import { globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parse } from 'yaml'

const ROOT = resolve(import.meta.dirname, '../../..')

/** A realistic defect. It shows whether the judge would notice it. */
export interface SeededBug {
  readonly name: string
  /** Path of the changed file, from the root of the repository. */
  readonly file: string
  /** Text that is in the file exactly once, and what replaces it. */
  readonly find: string
  readonly replace: string
  /** The property that should notice it. */
  readonly breaks: string
}

/** All seeded bugs, in the order of their files' names. */
export function readSeededBugs(): SeededBug[] {
  const files = globSync('*.yaml', { cwd: import.meta.dirname }).sort()
  return files.flatMap(file => parse(readFileSync(resolve(import.meta.dirname, file), 'utf8')) as SeededBug[])
}

/** The source of a file with a bug. @throws Error if the bug does not fit the file any more */
export function withBug({ name, find, replace }: Omit<SeededBug, 'breaks'>, source: string): string {
  const parts = source.split(find)
  if (parts.length !== 2) throw new Error(`The text that ${name} replaces is ${parts.length - 1} times in its file`)
  return parts.join(replace)
}

/** Puts a bug into the product, in memory: modules that are imported afterwards have it. */
export function plantBug(bug: Omit<SeededBug, 'breaks'>): void {
  const url = pathToFileURL(resolve(ROOT, bug.file)).href
  registerHooks({
    load(address, context, next) {
      const loaded = next(address, context)
      if (address !== url) return loaded
      return { ...loaded, source: withBug(bug, readFileSync(resolve(ROOT, bug.file), 'utf8')) }
    },
  })
}
