import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { CONNECTS_ITSELF, outgoingFaults, ownConnections } from './architecture/outgoing.ts'
import {
  environmentFaults,
  featureCircles,
  fileFaults,
  findCycles,
  isPure,
  MAY_IMPORT,
  modelFaults,
  packageFaults,
  purityFaults,
  repeatedNames,
  roomFaults,
  switchFaults,
  timeFaults,
} from './architecture/rules.ts'
import { folderFaults, functionFaults } from './architecture/sizes.ts'
import { importsOf, readSourceFiles, type SourceFile } from './architecture/source-files.ts'

const files = readSourceFiles()
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const present = (path: string) => existsSync(ROOT + path)

const DEPENDENCY_LISTS = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'] as const
type Manifest = { name: string } & Partial<Record<(typeof DEPENDENCY_LISTS)[number], Record<string, string>>>

/** The package.json files of the workspaces in a folder. */
function manifests(folder: 'packages' | 'services'): Manifest[] {
  return globSync(`${folder}/*/package.json`, { cwd: ROOT }).map(path => JSON.parse(readFileSync(ROOT + path, 'utf8')))
}

describe('the code as it is', () => {
  test('finds code of every workspace, and pure code', () => {
    const workspaces = new Set(files.filter(file => file.isProduction).map(file => file.workspace))
    expect([...workspaces].sort()).toEqual(Object.keys(MAY_IMPORT).sort())
    expect(files.filter(file => isPure(file.path) && file.isProduction).length).toBeGreaterThan(50)
  })

  test('no package depends on a service', () => {
    const services = new Set(manifests('services').map(({ name }) => name))
    const packages = manifests('packages')
    expect([services.size, packages.length]).toEqual([4, 11])
    const faults = packages.flatMap(({ name, ...lists }) =>
      DEPENDENCY_LISTS.flatMap(list => Object.keys(lists[list] ?? {}))
        .filter(dependency => services.has(dependency))
        .map(service => `${name} depends on ${service}`),
    )
    expect(faults).toEqual([])
  })

  test('the package that decides depends on nothing that acts', () => {
    const verdict = manifests('packages').find(({ name }) => name === '@backstop/verdict')
    expect(DEPENDENCY_LISTS.flatMap(list => Object.keys(verdict?.[list] ?? {}))).toEqual([])
    expect(MAY_IMPORT['packages/verdict']).toEqual(['contracts'])
  })

  test('every relative import names a file', () => {
    const broken = files.flatMap(({ path, imports }) =>
      imports.flatMap(({ target }) => (target === undefined || present(target) ? [] : [`${path}: ${target}`])),
    )
    expect(broken).toEqual([])
  })

  test.each([
    { name: 'packages import each other by name and in one direction', faults: packageFaults },
    { name: 'code that decides is pure', faults: purityFaults },
    { name: 'a room of packages/verdict imports only those below it', faults: roomFaults },
    { name: 'models share nothing with what they judge', faults: modelFaults },
    { name: 'settings come from config.ts', faults: environmentFaults },
    { name: 'services take the time from the clock that they are given', faults: timeFaults },
    { name: 'code that sends requests uses the guarded client', faults: outgoingFaults },
    { name: 'every switch names each kind, or says what happens to all others', faults: switchFaults },
    { name: 'files have a meaningful name and a readable size', faults: fileFaults },
    { name: 'no function has more than 80 lines, tables excepted', faults: functionFaults },
    // Every function is read, which takes minutes beside other work.
  ])('$name', { timeout: 600_000 }, ({ faults }) => {
    expect(files.flatMap(faults)).toEqual([])
  })

  test.each(Object.entries(CONNECTS_ITSELF))('%s still connects by itself: %s', place => {
    const there = files.filter(({ path, isProduction }) => isProduction && path.startsWith(place))
    expect(there.flatMap(ownConnections)).not.toEqual([])
  })

  test('no folder has more than 20 files of production code', () => {
    expect(folderFaults(files)).toEqual([])
  })

  test('no files import each other in a circle', () => {
    expect(findCycles(files)).toEqual([])
  })

  test('no two folders of a service have a file of the same name', () => {
    expect(repeatedNames(files)).toEqual([])
  })

  test('no features import each other in a circle', () => {
    expect(featureCircles(files)).toEqual([])
  })
})

/** A source file that exists only in the test, to check that a rule reports it. */
function file(path: string, text: string): SourceFile {
  const workspace = /^(?:packages|services)\/[^/]+/.exec(path)?.[0] ?? '.'
  return { path, workspace, isProduction: true, text, imports: importsOf(path, text) }
}

describe('a rule reports', () => {
  const pure = 'packages/verdict/src/judge/x.ts'
  test.each([
    { name: 'the clock in pure code', faults: purityFaults, path: pure, text: 'const now = Date.now()' },
    { name: 'a node module in pure code', faults: purityFaults, path: pure, text: "import { x } from 'node:fs'" },
    {
      name: 'randomness in pure code',
      faults: purityFaults,
      path: pure,
      text: 'const id = crypto.randomUUID()',
    },
    {
      name: 'the store in pure code',
      faults: purityFaults,
      path: 'services/reconciler/src/sweep/rules/x.ts',
      text: "import { s } from '../../store/s.ts'",
    },
    ...["import { PROVIDERS } from '@backstop/providers'", "import { AppError } from '@backstop/kit/clock'"].map(
      text => ({
        name: `in the rooms of verdicts: ${text}`,
        faults: packageFaults,
        path: pure,
        text,
      }),
    ),
    ...["import type { Input } from '../decide/decide.ts'", "import { a } from '../elsewhere/a.ts'"].map(text => ({
      name: `in the room of the verdict: ${text}`,
      faults: roomFaults,
      path: pure,
      text,
    })),
    {
      name: 'a room of verdicts on the floor of another',
      faults: roomFaults,
      path: 'packages/verdict/src/refund/x.ts',
      text: "import { a } from '../subscription/a.ts'",
    },
    {
      name: 'a service in a service',
      faults: packageFaults,
      path: 'services/ingress/src/app.ts',
      text: "import { x } from '@backstop/notifier'",
    },
    ...[
      "import { x } from '@backstop/reconciler/replay'",
      "const { x } = await import('@backstop/reconciler/replay')",
    ].map(text => ({
      name: `in the CLI: ${text}`,
      faults: packageFaults,
      path: 'packages/cli/src/dry-run/x.ts',
      text,
    })),
    {
      name: 'the providers in the simulator',
      faults: packageFaults,
      path: 'packages/simulator/src/x.ts',
      text: "export {\n  x,\n} from '@backstop/providers'",
    },
    {
      name: 'a file of another package by its path',
      faults: packageFaults,
      path: 'services/ingress/src/app.ts',
      text: "import { x } from '../../../packages/kit/src/errors.ts'",
    },
    {
      name: 'impure code of a feature in its rules',
      faults: purityFaults,
      path: 'services/notifier/src/queue/rules/x.ts',
      text: "import { x } from '../channel-queues.ts'",
    },
    {
      name: 'a switch that does nothing for a new kind of delivery work',
      faults: switchFaults,
      path: 'services/notifier/src/delivery/plan-intake.ts',
      text: "    switch (intake.kind) {\n      case 'skip':\n        this.#finish(from)\n        break\n    }",
    },
    {
      name: 'a default that accepts every new kind',
      faults: switchFaults,
      path: 'services/notifier/src/delivery/outcome-writer.ts',
      text: "  switch (intake.kind) {\n    case 'skip':\n      return []\n    default:\n      return []\n  }",
    },
    {
      name: 'a setting that is read outside config.ts',
      faults: environmentFaults,
      path: 'services/ingress/src/app.ts',
      text: 'const level = process.env.LOG_LEVEL',
    },
    ...['const now = Date.now()', 'const at = new Date()', "import { systemClock } from '@backstop/kit/clock'"].map(
      text => ({
        name: `in a service: ${text}`,
        faults: timeFaults,
        path: 'services/ingress/src/start.ts',
        text,
      }),
    ),
    ...[
      "const answer = await fetch('https://example.com')",
      "const answer = await globalThis.fetch('https://example.com')",
      "const socket = new WebSocket('wss://example.com')",
      "import { request } from 'node:http'",
      "import { createServer, get as load } from 'node:https'",
      "import http from 'http'",
      "import * as tls from 'node:tls'",
      "import { type Socket, connect } from 'node:net'",
      "import { Pool } from 'undici'",
      "import axios, { type AxiosInstance } from 'axios'",
      "export { request } from 'undici'",
      "const { connect } = await import('node:http2')",
    ].map(text => ({ name: text, faults: outgoingFaults, path: 'packages/channels/src/x/deliver.ts', text })),
    ...[
      "import { hasExecuted } from '@backstop/contracts'",
      "import type { Subject } from '../../src/case/case.ts'",
      "import { claimOf } from '../../src/verdict/explain.ts'",
      "import type { Observation } from '@backstop/providers'",
    ].map(text => ({
      name: `in a model: ${text}`,
      faults: modelFaults,
      path: 'packages/verdict/test/model/x.ts',
      text,
    })),
    { name: 'a file called utils', faults: fileFaults, path: 'packages/kit/src/utils.ts', text: '' },
    {
      name: 'a function of 81 lines, with one of two lines in it,',
      faults: functionFaults,
      path: 'services/ingress/src/x.ts',
      text: `const create = () => {\n${'act()\n'.repeat(77)}const inner = () => {\n}\n}`,
    },
    {
      name: 'a function that returns methods of 81 lines together',
      faults: functionFaults,
      path: 'services/ingress/src/x.ts',
      text: `function create() {\n  return {\n${'    act() {},\n'.repeat(77)}  }\n}`,
    },
  ])('$name is a fault', ({ faults, path, text }) => {
    expect(faults(file(path, text))).toHaveLength(1)
  })

  test.each([
    "import { createServer, type Server } from 'node:http'",
    "import type { Socket } from 'node:net'",
    "import { isIP, type Socket } from 'node:net'",
    "import type { Dispatcher } from 'undici'",
    'const answer = await consumer.fetch(1)',
    'prefetch(channels)',
    '// fetch(url) would follow redirects',
  ])('%s calls nobody', text => {
    expect(outgoingFaults(file('packages/channels/src/x/deliver.ts', text))).toEqual([])
  })

  test('a table counts as one line of its function', () => {
    const table = `function list() {\n  return [\n${'    { a: 1 },\n'.repeat(100)}  ]\n}`
    expect(functionFaults(file('services/ingress/src/x.ts', table))).toEqual([])
  })

  test('a folder of 21 files is a fault, and its tests and folders do not count', () => {
    const named = (names: readonly string[]) => names.map(name => file(`services/ingress/src/http/${name}`, ''))
    const files = named(Array.from({ length: 20 }, (_, n) => `a${n}.ts`))
    const test = { ...file('services/ingress/src/http/a.test.ts', ''), isProduction: false }
    expect(folderFaults([...files, test, ...named(['rules/b.ts'])])).toEqual([])
    expect(folderFaults([...files, ...named(['b.ts'])])).toHaveLength(1)
  })

  test('there is a model to check', () => {
    expect(files.filter(({ path }) => path.includes('/test/model/'))).not.toEqual([])
  })

  test('allows hashing and converting a time in pure code', () => {
    const text = "import { createHash } from 'node:crypto'\nconst at = new Date(nowMs)"
    expect(purityFaults(file(pure, text))).toEqual([])
  })

  test('reports a circle of features by its imports, including type imports', () => {
    const a = file('services/notifier/src/queue/a.ts', "import type { B } from '../health/rules/b.ts'")
    const b = file('services/notifier/src/health/c.ts', "import { a } from '../queue/a.ts'")
    const [from, to] = ['services/notifier/src/queue/a.ts', 'services/notifier/src/health']
    expect(featureCircles([a, b])).toEqual([`${from} imports ${to}/rules/b.ts; ${to}/c.ts imports ${from}`])
  })

  test('reports a circle of features through their ports to the database', () => {
    const a = file('services/notifier/src/queue/a.ts', "import type { Store } from '../store/a-store.ts'")
    const b = file('services/notifier/src/store/a-store.ts', "import type { A } from '../queue/a.ts'")
    expect(featureCircles([a, b])).toHaveLength(1)
  })

  test('reports a circle of files by its files, including type imports', () => {
    const a = file('packages/kit/src/a.ts', "import type { B } from './b.ts'")
    const b = file('packages/kit/src/b.ts', "import { a } from './a.ts'")
    expect(findCycles([a, b])).toEqual([['packages/kit/src/a.ts', 'packages/kit/src/b.ts', 'packages/kit/src/a.ts']])
  })
})
