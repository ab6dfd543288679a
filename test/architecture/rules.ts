/** The rules about who may import what, as data, and the checks that read them. Each check answers one line a fault. */
import type { SourceFile } from './source-files.ts'
import { packageNameOf } from './source-files.ts'

/**
 * What each workspace may import of ours in production. The simulator and the stack know nothing of the rest: the one
 * stands in for the outside world and must not repeat our mistakes, the other runs before anything of ours does.
 */
export const MAY_IMPORT: Record<string, readonly string[]> = {
  'packages/contracts': [],
  'packages/kit': ['contracts'],
  'packages/providers': ['contracts', 'kit'],
  'packages/alert-views': ['contracts'],
  'packages/ledger': ['contracts', 'kit'],
  'packages/provision': ['contracts', 'kit'],
  // Its dry run puts the reconciler's own rules to what was taken in.
  'packages/cli': ['contracts', 'kit', 'reconciler'],
  'packages/simulator': [],
  stack: [],
  'services/ingress': ['contracts', 'kit', 'providers'],
  'services/reconciler': ['contracts', 'kit', 'providers', 'ledger'],
  'services/notifier': ['contracts', 'kit', 'alert-views'],
  'services/admin-api': ['contracts', 'kit', 'providers', 'ledger', 'alert-views'],
}

/** Packages reach each other by name and declared entry, and only in the direction of the table. */
export function packageFaults(file: SourceFile): string[] {
  const allowed = MAY_IMPORT[file.workspace]
  if (file.workspace !== '.' && allowed === undefined) {
    return [`${file.path}: ${file.workspace} is not in MAY_IMPORT of test/architecture/rules.ts`]
  }
  return file.imports.flatMap(({ specifier, target }) => {
    if (target !== undefined && file.workspace !== '.' && !target.startsWith(`${file.workspace}/`)) {
      return [`${file.path}: imports ${target} by its path; import the package by its name`]
    }
    const name = /^@backstop\/([^/]+)/.exec(specifier)?.[1]
    if (name === undefined || file.workspace === '.') return []
    if (specifier === packageNameOf(file.workspace)) return [`${file.path}: imports its own package by name`]
    if (file.workspace.startsWith('services/') && `services/${name}` in MAY_IMPORT) {
      return [`${file.path}: a service imports the service ${name}; services talk by messages`]
    }
    if (file.isProduction && !allowed?.includes(name)) return [`${file.path}: may not import ${specifier}`]
    return []
  })
}

/** From the outside of a service to its middle. A file may import what stands at its own place or further in. */
const LAYERS = ['main', 'app', 'entry', 'part', 'domain'] as const
type Layer = (typeof LAYERS)[number]

const LAYER_OF_FOLDER: Record<string, Layer> = { consumers: 'entry', http: 'entry', replay: 'entry', domain: 'domain' }
const LAYER_OF_FILE: Record<string, Layer> = { 'main.ts': 'main', 'app.ts': 'app', 'start.ts': 'app' }

/** The layer of a file of a service; undefined for what lies beside them (config.ts, crash-points.ts). */
export function layerOf(path: string): Layer | undefined {
  const inside = /^(?:packages|services)\/[^/]+\/src\/(.+)$/.exec(path)?.[1]?.split('/')
  if (inside === undefined) return undefined
  if (inside.includes('domain')) return 'domain'
  const [first = ''] = inside
  if (inside.length === 1) return LAYER_OF_FILE[first]
  return path.startsWith('services/') ? (LAYER_OF_FOLDER[first] ?? 'part') : undefined
}

/** main → app → consumers, http → store, publish and other parts → domain; never the other way. */
export function directionFaults(file: SourceFile): string[] {
  const from = layerOf(file.path)
  if (!file.isProduction || from === undefined) return []
  return file.imports.flatMap(({ target }) => {
    const to = target === undefined ? undefined : layerOf(target)
    if (to === undefined || LAYERS.indexOf(to) >= LAYERS.indexOf(from)) return []
    return [`${file.path}: a file of layer ${from} imports ${target} of layer ${to}`]
  })
}

/** What makes a decision depend on more than its arguments. `new Date(value)` only converts and is allowed. */
const IMPURE = [
  /\bDate\.now\b/,
  /\bnew Date\(\s*\)/,
  /\bMath\.random\b/,
  /\bprocess\./,
  /\bperformance\./,
  /\bfetch\(/,
  /\bset(?:Timeout|Interval|Immediate)\b/,
  /\brandom(?:UUID|Bytes|Int|FillSync)\b/,
  /\bnewId\(/,
  /\bconsole\./,
  /\bawait\b/,
]
const PURE_PACKAGES = ['@backstop/contracts', 'zod']
const HASHING = /^import \{ (?:(?:createHash|hash)(?:, )?)+ \} from 'node:crypto'$/m

/** Domain code takes values and gives values: no clock, chance, I/O, environment or logger. */
export function purityFaults(file: SourceFile): string[] {
  if (layerOf(file.path) !== 'domain' || !file.isProduction) return []
  const code = file.text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
  const used = IMPURE.filter(pattern => pattern.test(code)).map(pattern => `uses ${pattern.exec(code)?.[0]}`)
  const imported = file.imports.flatMap(({ specifier, target, isTypeOnly }) => {
    if (target !== undefined) return layerOf(target) === 'domain' ? [] : [`imports ${specifier} from outside domain/`]
    if (PURE_PACKAGES.includes(specifier) || (isTypeOnly && specifier.startsWith('@backstop/'))) return []
    if (specifier === 'node:crypto' && HASHING.test(file.text)) return []
    return [`imports ${specifier}`]
  })
  return [...used, ...imported].map(fault => `${file.path}: domain code ${fault}`)
}

/** A model that a test holds the product against proves nothing if it shares the product's code, or its mistakes. */
export function modelFaults({ path, imports }: SourceFile): string[] {
  if (!/^(?:packages|services)\/[^/]+\/test\/model\//.test(path)) return []
  return imports
    .filter(({ specifier, isTypeOnly }) => specifier !== '@backstop/contracts' || !isTypeOnly)
    .map(
      ({ specifier }) =>
        `${path}: a model takes nothing of the product but the types of its contracts, and ${specifier}`,
    )
}

/** Settings are read once, in config.ts from what main is given; a stray process.env is a setting nobody documents. */
const READS_ENVIRONMENT = new Set([
  'packages/kit/src/crash-points.ts',
  'packages/kit/src/service/run-service.ts',
  'packages/cli/src/main.ts',
  'packages/provision/src/main.ts',
  'packages/provision/src/wait-main.ts',
  'packages/provision/src/wall-main.ts',
  'stack/src/main.ts',
  // The programs that it starts inherit the environment.
  'stack/src/downloads/python.ts',
  'stack/src/embedded-part.ts',
])

export function environmentFaults(file: SourceFile): string[] {
  if (!file.isProduction || READS_ENVIRONMENT.has(file.path)) return []
  return /\bprocess\.env\b/.test(file.text) ? [`${file.path}: reads process.env; take the setting from config.ts`] : []
}

/** Files that read the clock of their host, and why they may. */
const READS_HOST_CLOCK: Readonly<Record<string, string>> = {
  'packages/kit/src/clock/': 'it measures that clock',
  'packages/kit/src/bus/kafka-bus.ts': 'tests and tools stamp their messages with it',
  'packages/kit/src/bus/kafkajs-patch.ts': 'kafkajs keeps its own time by it',
  'packages/kit/src/bus/kafkajs-connection-patch.ts': 'kafkajs keeps its own time by it',
  'packages/provision/': 'the deploy job decides nothing by the time',
  'packages/cli/': 'a tool on the machine of a person, who names windows by its clock',
  'packages/simulator/': 'it plays the outside world',
}

/** One wrong clock among several processes opens false incidents: services take the time from the clock they are given. */
export function timeFaults({ path, text, isProduction, workspace }: SourceFile): string[] {
  const isService = /^(?:packages|services)\//.test(workspace)
  if (!isProduction || !isService || Object.keys(READS_HOST_CLOCK).some(place => path.startsWith(place))) return []
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
  const used = /\bDate\.now\b|\bnew Date\(\s*\)|\bsystemClock\b/.exec(code)
  return used === null ? [] : [`${path}: uses ${used[0]}; take the time from the Clock port`]
}

const MEANINGLESS_NAME = /^(?:utils?|helpers?|manager|data|common|misc)$/
const MOST_LINES = 350

/** Names say what a file holds, and a file holds one thing. */
export function fileFaults({ path, text, isProduction }: SourceFile): string[] {
  const parts = path.replace(/\.ts$/, '').split('/')
  const lines = text.split('\n').length
  return [
    ...parts.filter(part => MEANINGLESS_NAME.test(part)).map(part => `${path}: the name ${part} says nothing`),
    ...(isProduction && lines > MOST_LINES ? [`${path}: ${lines} lines are more than one thing; split it`] : []),
  ]
}

/** Circles of imports, each named once, by the files that form it. Types alone make none: they are gone when it runs. */
export function findCycles(files: readonly SourceFile[]): string[][] {
  const byPath = new Map(files.map(file => [file.path, file]))
  const done = new Set<string>()
  const trail: string[] = []
  const cycles: string[][] = []
  const visit = (path: string) => {
    const at = trail.indexOf(path)
    if (at >= 0) {
      cycles.push([...trail.slice(at), path])
      return
    }
    if (done.has(path)) return
    trail.push(path)
    for (const { target, isTypeOnly } of byPath.get(path)?.imports ?? []) {
      if (target !== undefined && !isTypeOnly) visit(target)
    }
    trail.pop()
    done.add(path)
  }
  for (const { path } of files) visit(path)
  return cycles
}
