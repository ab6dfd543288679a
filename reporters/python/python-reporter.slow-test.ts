/** The reporter for Python: its checks, its tests with the newest and older libraries, and its package. */
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { requirePython } from '../../stack/src/downloads/machine-checks.ts'
import { pythonEnvironment } from '../../stack/src/downloads/python.ts'
import { runProgram } from '../../stack/src/run-program.ts'

const FOLDER = import.meta.dirname
const REQUIREMENTS = join(FOLDER, 'requirements')
const CACHE = resolve(FOLDER, '../../.backstop')
/** The installed libraries. Those that are not the newest use what the newest need. */
const SETS = { newest: ['tools', 'newest'], oldest: ['oldest'], older: ['older'] } as const
type SetName = keyof typeof SETS

let installed: string

/** Runs Python with a set of libraries. @throws ProgramFailure with the output of the program if it fails */
async function python(set: SetName, args: readonly string[]): Promise<string> {
  const path = [join(FOLDER, 'src'), join(installed, set), join(installed, 'newest')].join(delimiter)
  const env = pythonEnvironment(process.env, {
    PYTHONPATH: path,
    PYTHONDONTWRITEBYTECODE: '1',
    RUFF_CACHE_DIR: join(installed, 'ruff-cache'),
    MYPY_CACHE_DIR: join(installed, 'mypy-cache'),
    NO_PROXY: '127.0.0.1',
  })
  return (await runProgram('python3', args, { timeoutMs: 600_000, cwd: FOLDER, env })).stdout
}

/** Installs the libraries once for each version of Python and of the requirements. pip needs no `venv` for this. */
beforeAll(async () => {
  await requirePython(process.env)
  const env = pythonEnvironment(process.env)
  const version = await runProgram('python3', ['-VV'], { timeoutMs: 60_000, env })
  const hash = createHash('sha256').update(version.stdout)
  for (const name of (await readdir(REQUIREMENTS)).sort()) hash.update(await readFile(join(REQUIREMENTS, name)))
  installed = join(CACHE, `python-libraries-${hash.digest('hex').slice(0, 12)}`)
  const isInstalled = await readdir(installed).then(
    () => true,
    () => false,
  )
  if (isInstalled) return
  const unfinished = `${installed}.${process.pid}`
  await mkdir(unfinished, { recursive: true })
  try {
    for (const [set, files] of Object.entries(SETS)) {
      const lists = files.flatMap(file => ['-r', join(REQUIREMENTS, `${file}.txt`)])
      const args = ['-m', 'pip', 'install', '--quiet', '--no-input', '--no-deps', ...lists]
      await runProgram('python3', [...args, '--target', join(unfinished, set)], { timeoutMs: 600_000, env })
    }
    // Another process may have been faster.
    await rename(unfinished, installed).catch(() => {})
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
})

test('is formatted, without lint and typed', async () => {
  await python('newest', ['-m', 'ruff', 'format', '--check', '.'])
  await python('newest', ['-m', 'ruff', 'check', '.'])
  await python('newest', ['-m', 'mypy'])
})

test('passes its tests with the newest libraries', async () => {
  expect(await python('newest', ['-m', 'pytest'])).toMatch(/ passed/)
})

test.each(['oldest', 'older'] as const)('watches the %s libraries', async set => {
  expect(await python(set, ['-m', 'pytest', 'tests/test_forms.py', 'tests/test_calls.py'])).toMatch(/ passed/)
})

test('its package has its types and needs no other package', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'reporter-'))
  try {
    await python('newest', ['-m', 'hatchling', 'build', '--target', 'wheel', '--directory', folder])
    const [wheel = ''] = await readdir(folder)
    const target = join(folder, 'installed')
    const env = pythonEnvironment(process.env, { PYTHONPATH: target, PYTHONDONTWRITEBYTECODE: '1' })
    const install = ['-m', 'pip', 'install', '--quiet', '--no-index', '--target', target, join(folder, wheel)]
    await runProgram('python3', install, { timeoutMs: 120_000, env })
    expect(await readdir(join(target, 'backstop_reporter'))).toContain('py.typed')
    // Without the packages of this machine.
    const use = ['-S', '-c', 'import backstop_reporter; print(backstop_reporter.watch.__name__)']
    expect((await runProgram('python3', use, { timeoutMs: 60_000, cwd: folder, env })).stdout).toBe('watch\n')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
