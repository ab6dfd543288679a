/** The reporter for Python: its checks, its tests with the newest and older libraries, and its package. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { pythonEnvironment } from '../../stack/src/downloads/python.ts'
import { runProgram } from '../../stack/src/run-program.ts'
import { installPythonLibraries, type LibrarySet, type PythonLibraries } from './libraries.ts'

let libraries: PythonLibraries
beforeAll(async () => {
  libraries = await installPythonLibraries()
})

/** Runs Python with a set of libraries. @throws ProgramFailure with the output of the program if it fails */
async function python(set: LibrarySet, args: readonly string[]): Promise<string> {
  const options = { timeoutMs: 600_000, cwd: import.meta.dirname, env: libraries.environmentOf(set) }
  return (await runProgram('python3', args, options)).stdout
}

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
