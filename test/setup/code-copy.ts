/** A copy of the code in which a test follows a how-to page step by step. */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const CODE = ['packages', 'services', 'reporters', 'stack', 'scripts', 'test', 'bench']
const SETTINGS = ['tsconfig.json', 'vitest.config.ts', 'package.json']
/**
 * Time limit of one program, in milliseconds: shorter than the timeout of the tests, so that its output is reported.
 */
const RUN_MS = 600_000

/** A new file from a page, or lines that a page adds to and removes from an existing file. */
export interface PageStep {
  /** The path from the root of the repository. */
  readonly path: string
  readonly kind: 'ts' | 'diff'
  readonly code: string
}

/** Reads the code blocks of a page. Each block belongs to the file named most recently on a separate line. */
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
  /** The absolute path of a file in the copy. */
  at(path: string): string
  /** @throws Error if the lines to replace are not found exactly once in the file */
  take(step: PageStep): void
  /**
   * Runs a program of node_modules in the copy.
   * @param program path of its main file within node_modules
   */
  run(program: string, args: readonly string[]): { readonly status: number | null; readonly output: string }
  remove(): void
}

/** Copies the current code, with all installed packages. */
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
      // tsc is a Go program: as in scripts/check.ts. The compiled code of the copy is removed with it.
      const env = { ...process.env, GOGC: '300', NODE_COMPILE_CACHE: join(folder, 'compiled') }
      const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], {
        cwd: folder,
        env,
        timeout: RUN_MS,
      })
      return { status, output: `${stdout}${stderr}` }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/**
 * Links all installed packages, except our own packages, which come from the copy. A workspace has its own node_modules if it needs
 * another version than the root.
 */
function linkModules(folder: string): void {
  for (const path of globSync('{packages/*,services/*,stack}/node_modules', { cwd: ROOT })) {
    symlinkSync(join(ROOT, path), join(folder, path))
  }
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
