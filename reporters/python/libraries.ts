/** The libraries of the Python reporter and of its tests, installed once for each version of Python and of the requirements. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { requirePython } from '../../stack/src/downloads/machine-checks.ts'
import { pythonEnvironment } from '../../stack/src/downloads/python.ts'
import { withLock } from '../../stack/src/exclusive-lock.ts'
import { runProgram } from '../../stack/src/run-program.ts'

const REQUIREMENTS = join(import.meta.dirname, 'requirements')
const CACHE = resolve(import.meta.dirname, '../../.backstop')
/** The files of each set. Libraries that are not the newest use what the newest need. */
const SETS = { newest: ['tools', 'newest'], oldest: ['oldest'], older: ['older'] } as const
/** Time limit of one install, in milliseconds. */
const INSTALL_MS = 600_000
export type LibrarySet = keyof typeof SETS

export interface PythonLibraries {
  /** The environment of a `python3` that imports the reporter, the example shop and a set of libraries. */
  environmentOf(set: LibrarySet): NodeJS.ProcessEnv
}

/** Installs the libraries with pip, which needs no `venv` for it. @throws StackError ProgramFailure with the output of pip */
export async function installPythonLibraries(): Promise<PythonLibraries> {
  await requirePython(process.env)
  const folder = join(CACHE, `python-libraries-${await versionOf()}`)
  // Test files that begin at the same time would install the same, and each takes a quarter of a minute of processor time.
  await withLock(`${folder}.lock`, { timeoutMs: INSTALL_MS }, async () => {
    if (!existsSync(folder)) await installInto(folder)
  })
  const own = [join(import.meta.dirname, 'src'), import.meta.dirname]
  return {
    environmentOf: set =>
      pythonEnvironment(process.env, {
        PYTHONPATH: [...own, join(folder, set), join(folder, 'newest')].join(delimiter),
        PYTHONDONTWRITEBYTECODE: '1',
        RUFF_CACHE_DIR: join(folder, 'ruff-cache'),
        MYPY_CACHE_DIR: join(folder, 'mypy-cache'),
        NO_PROXY: '127.0.0.1',
      }),
  }
}

async function versionOf(): Promise<string> {
  const { stdout } = await runProgram('python3', ['-VV'], { timeoutMs: 60_000, env: pythonEnvironment(process.env) })
  const hash = createHash('sha256').update(stdout)
  for (const name of (await readdir(REQUIREMENTS)).sort()) hash.update(await readFile(join(REQUIREMENTS, name)))
  return hash.digest('hex').slice(0, 12)
}

async function installInto(folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`
  await mkdir(unfinished, { recursive: true })
  try {
    for (const [set, files] of Object.entries(SETS)) {
      const lists = files.flatMap(file => ['-r', join(REQUIREMENTS, `${file}.txt`)])
      const args = ['-m', 'pip', 'install', '--quiet', '--no-input', '--no-deps', ...lists]
      const options = { timeoutMs: INSTALL_MS, env: pythonEnvironment(process.env) }
      await runProgram('python3', [...args, '--target', join(unfinished, set)], options)
    }
    await rename(unfinished, folder)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}
