/** The reporters keep what docs/reporting.md promises, and the suite would notice if one did not. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCases } from '../../../packages/client/conformance/case.ts'
import { playAll } from '../../../packages/client/conformance/play-all.ts'
import { installPythonLibraries, type PythonLibraries } from '../../../reporters/python/libraries.ts'
import { withBug } from '../../simulation/seeded-bugs/seeded-bugs.ts'
import { type PlantedFault, readFaults } from './faults.ts'

interface Driver {
  readonly command: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}

const ROOT = resolve(import.meta.dirname, '../../..')
const PYTHON = join(ROOT, 'reporters/python')

const cases = readCases()
let libraries: PythonLibraries
let copies: string
beforeAll(async () => {
  libraries = await installPythonLibraries()
  copies = await mkdtemp(join(tmpdir(), 'faults-'))
})
afterAll(() => rm(copies, { recursive: true }))

const nodeDriver = (): Driver => ({ command: [process.execPath, join(ROOT, 'packages/client/conformance/driver.ts')] })
const pythonDriver = (...args: string[]): Driver => ({
  command: ['python3', join(PYTHON, 'conformance/driver.py'), ...args],
  env: libraries.environmentOf('newest'),
})

const faultyNode = async ({ name }: PlantedFault): Promise<Driver> => ({
  command: [process.execPath, join(import.meta.dirname, 'faulty-node-driver.ts'), name],
})

/** The Python driver with a copy of the reporter that has the fault. */
async function faultyPython(fault: PlantedFault): Promise<Driver> {
  const source = join(copies, fault.name)
  await cp(join(PYTHON, 'src'), source, { recursive: true })
  const changed = join(source, relative('reporters/python/src', fault.file))
  await writeFile(changed, withBug(fault, await readFile(changed, 'utf8')))
  const { command, env } = pythonDriver()
  return { command, env: { ...env, PYTHONPATH: [source, env?.PYTHONPATH].join(delimiter) } }
}

test.each([
  { reporter: 'Node', open: nodeDriver, played: cases },
  { reporter: 'Python', open: pythonDriver, played: cases },
  {
    reporter: 'Python for asyncio',
    open: () => pythonDriver('--async'),
    played: cases.filter(({ library }) => library === 'stripe'),
  },
])('the reporter for $reporter passes every case', async ({ open, played }) => {
  const { command, env } = open()
  const outcomes = await playAll(played, command, env === undefined ? {} : { env })
  expect(outcomes.filter(({ kind }) => kind !== 'passed')).toEqual([])
  expect(outcomes).toHaveLength(played.length)
})

describe.each([
  { reporter: 'Node', file: 'node-faults.yaml', open: faultyNode },
  { reporter: 'Python', file: 'python-faults.yaml', open: faultyPython },
])('a case fails for a reporter for $reporter that', ({ file, open }) => {
  test.concurrent.each(readFaults(file).map(fault => [fault.name, fault] as const))('%s', async (_, fault) => {
    const chosen = cases.filter(({ name }) => name.includes(fault.case))
    expect(chosen).toHaveLength(1)
    const { command, env } = await open(fault)
    const outcomes = await playAll(chosen, command, { attempts: 1, ...(env === undefined ? {} : { env }) })
    expect(outcomes).toMatchObject([{ kind: 'failed' }])
  })
})
