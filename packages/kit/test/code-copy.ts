/** A copy of the code, on which a page that says how to add something is followed to the letter. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../../..')
const CODE = ['packages', 'services', 'stack', 'scripts', 'test', 'bench']
const SETTINGS = ['tsconfig.json', 'vitest.config.ts', 'package.json']
/** Milliseconds for one program: less than the tests give it, so that it is ended by what tells what it said. */
const RUN_MS = 170_000

/** A file of a page, or lines that one of ours gains and loses. */
export interface PageStep {
  /** From the root of the code. */
  readonly path: string
  readonly kind: 'ts' | 'diff'
  readonly code: string
}

/** The blocks of code of a page. Each is for the file that a line of its own named last. */
export function readPageSteps(page: string): PageStep[] {
  const steps: PageStep[] = []
  let path = ''
  for (const [, named, kind, code] of page.matchAll(/^`([\w./-]+\.ts)`:?$|^```(ts|diff)\n([\s\S]*?)^```$/gm)) {
    if (named !== undefined) path = named
    else steps.push({ path, kind: kind as PageStep['kind'], code: code ?? '' })
  }
  return steps
}

export interface CodeCopy {
  /** Path of a file of the copy. */
  at(path: string): string
  /** @throws Error where the file does not hold once what the step says of it */
  take(step: PageStep): void
  /**
   * Runs a program of node_modules in the copy.
   * @param program path of its main file within node_modules
   */
  run(program: string, args: readonly string[]): { readonly status: number | null; readonly output: string }
  remove(): void
}

/** Copies the code as it is now, with everything that is installed. */
export function copyTheCode(): CodeCopy {
  const folder = mkdtempSync(join(tmpdir(), 'backstop-code-'))
  for (const name of [...CODE, ...SETTINGS]) {
    cpSync(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: source => !source.split(sep).includes('node_modules'),
    })
  }
  linkModules(folder)
  return {
    at: path => join(folder, path),
    take: step => take(folder, step),
    run(program, args) {
      const path = join(ROOT, 'node_modules', program)
      const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], { cwd: folder, timeout: RUN_MS })
      return { status, output: `${stdout}${stderr}` }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Everything as it is installed, but our own packages as they are in the copy. */
function linkModules(folder: string): void {
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@backstop'), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '@backstop') symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  for (const kind of ['packages', 'services']) {
    for (const name of readdirSync(join(folder, kind))) {
      symlinkSync(join(folder, kind, name), join(modules, '@backstop', name))
    }
  }
  symlinkSync(join(folder, 'stack'), join(modules, '@backstop', 'stack'))
}

function take(folder: string, { path, kind, code }: PageStep): void {
  const file = join(folder, path)
  if (kind === 'ts') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, code)
    return
  }
  const lines = code.trimEnd().split('\n')
  const without = (mark: string) => lines.filter(line => !line.startsWith(mark)).map(line => `${line.slice(1)}\n`)
  const parts = readFileSync(file, 'utf8').split(without('+').join(''))
  if (parts.length !== 2) throw new Error(`${path} does not hold these lines once:\n${without('+').join('')}`)
  writeFileSync(file, parts.join(without('-').join('')))
}
