/** The import rules as data, and their checks. Each check returns one line per violation. */
import type { SourceFile } from './source-files.ts'
import { packageNameOf } from './source-files.ts'

/**
 * The packages, or entries of packages, that each workspace may import in production. `kit/*` is every entry of kit. The client, the
 * simulator and the stack import no code: customers install the client alone, the simulator must not share the product's bugs, and the
 * stack starts before the product. `client/setup-steps` is the one list of the events to subscribe to; docs/decisions explains them,
 * and tests compare the two.
 */
export const MAY_IMPORT: Record<string, readonly string[]> = {
  'packages/contracts': [],
  'packages/kit': ['contracts'],
  'packages/providers': ['client/setup-steps', 'contracts', 'kit/clock', 'kit/config', 'kit/egress', 'kit/errors'],
  'packages/channels': [
    'contracts',
    'kit/clock',
    'kit/config',
    'kit/egress',
    'kit/errors',
    'kit/logger',
    'kit/secret-box',
  ],
  'packages/ledger': ['contracts', 'kit/*'],
  'packages/verdict': ['contracts'],
  'packages/provision': ['contracts', 'kit/*'],
  'packages/cli': ['channels', 'client', 'contracts', 'client/setup-steps', 'kit/*', 'provision', 'simulator'],
  'packages/client': [],
  // Of the contracts only files that import nothing but types, so that no schema is shipped to the browser.
  'packages/console': [
    'client',
    'client/setup-steps',
    'contracts/completeness-words',
    'contracts/money',
    'contracts/showable-text',
  ],
  'packages/simulator': ['client/setup-steps'],
  stack: [],
  'services/ingress': ['contracts', 'kit/*', 'providers'],
  'services/reconciler': ['contracts', 'kit/*', 'providers', 'ledger', 'verdict'],
  'services/notifier': ['contracts', 'kit/*', 'channels', 'channels/deliver'],
  'services/admin-api': ['contracts', 'kit/*', 'providers', 'ledger', 'channels', 'verdict'],
}

/** The packages of which a workspace may import only types, because their code does more than decide. */
const MAY_IMPORT_TYPES: Record<string, readonly string[]> = {
  'packages/verdict': ['providers'],
}

/** Packages import each other by name and declared entry, and only in the direction of the table. */
export function packageFaults(file: SourceFile): string[] {
  const allowed = MAY_IMPORT[file.workspace]
  if (file.workspace !== '.' && allowed === undefined) {
    return [`${file.path}: ${file.workspace} is not in MAY_IMPORT of test/architecture/rules.ts`]
  }
  return file.imports.flatMap(({ specifier, target, isTypeOnly }) => {
    if (target !== undefined && file.workspace !== '.' && !target.startsWith(`${file.workspace}/`)) {
      return [`${file.path}: imports ${target} by its path; import the package by its name`]
    }
    const [, entry = '', name] = /^@backstop\/(([^/]+).*)/.exec(specifier) ?? []
    if (name === undefined || file.workspace === '.') return []
    if (specifier === packageNameOf(file.workspace)) return [`${file.path}: imports its own package by name`]
    if (file.workspace.startsWith('services/') && `services/${name}` in MAY_IMPORT) {
      return [`${file.path}: a service imports the service ${name}; services talk by messages`]
    }
    if (isTypeOnly && MAY_IMPORT_TYPES[file.workspace]?.includes(entry)) return []
    const isAllowed = allowed?.includes(entry) || allowed?.includes(`${name}/*`)
    if (file.isProduction && !isAllowed) return [`${file.path}: may not import ${specifier}`]
    return []
  })
}

/**
 * The feature of a file: its folder directly under `src/`, or the folder below for a resource of the management API. A file
 * directly under `src/` is its own feature. Undefined for files elsewhere.
 */
function featureOf(path: string): string | undefined {
  const [, workspace = '', inside = ''] = /^((?:packages|services)\/[^/]+|stack)\/src\/(.+)$/.exec(path) ?? []
  if (workspace === '') return undefined
  const parts = inside.split('/')
  const depth = parts[0] === 'resources' && parts.length > 2 ? 2 : 1
  return `${workspace}/src/${parts.slice(0, depth).join('/')}`
}

/**
 * Circles of features, with one import per step. Type imports are included, because a reader of one feature must read the other.
 */
export function featureCircles(files: readonly SourceFile[]): string[] {
  const steps = new Map<string, Map<string, string>>()
  for (const { path, imports, isProduction } of files) {
    const from = featureOf(path)
    if (!isProduction || from === undefined) continue
    for (const { target } of imports) {
      const to = target === undefined ? undefined : featureOf(target)
      if (to === undefined || to === from) continue
      const known = steps.get(from) ?? new Map<string, string>()
      steps.set(from, known.set(to, `${path} imports ${target}`))
    }
  }
  const circles = circlesOf([...steps.keys()], feature => [...(steps.get(feature)?.keys() ?? [])])
  return circles.map(circle =>
    circle
      .slice(1)
      .map((to, at) => steps.get(circle[at] ?? '')?.get(to))
      .join('; '),
  )
}

/** Files of packages/channels that open secrets or send. All other files there, such as each kind's `message.ts`, are pure. */
const CARRIES_OUT_DELIVERIES =
  /^packages\/channels\/src\/(?:deliver|registry|answer\/(?:first-kib|http-answer)|[\w-]+\/(?:deliver|header-secrets|signature|smtp-mailer|target))\.ts$/

/** True if the file must be pure: without clock, chance, I/O, environment and logger. */
export function isPure(path: string): boolean {
  if (path.startsWith('packages/verdict/src/')) return true
  if (path.startsWith('packages/channels/src/')) return !CARRIES_OUT_DELIVERIES.test(path)
  return path.includes('/rules/')
}

/** The floors of packages/verdict, the lowest first. Rooms of one floor do not import each other. */
const VERDICT_FLOORS = [
  ['case'],
  ['explain'],
  ['show'],
  ['incident'],
  ['judge'],
  ['refund', 'subscription', 'operation'],
  ['decide'],
]

/** A room of packages/verdict imports only itself and lower floors, also for types. */
export function roomFaults({ path, imports, isProduction }: SourceFile): string[] {
  const roomOf = (file: string) => /^packages\/verdict\/src\/(\w+)\//.exec(file)?.[1]
  const floorOf = (room: string) => VERDICT_FLOORS.findIndex(rooms => rooms.includes(room))
  const room = roomOf(path)
  if (room === undefined || !isProduction) return []
  const others = imports.flatMap(({ target }) => roomOf(target ?? '') ?? []).filter(other => other !== room)
  return [...new Set(others)]
    .filter(other => floorOf(other) < 0 || floorOf(other) >= floorOf(room))
    .map(other => `${path}: ${room} may not import ${other}`)
}

/** Code that makes a decision depend on more than its arguments. `new Date(value)` only converts, and is allowed. */
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
  /\bconsole\.\w/,
  /\bawait\b/,
]
const PURE_PACKAGES = ['@backstop/channels', '@backstop/contracts', '@backstop/verdict', 'zod']
const HASHING = /^import \{ (?:(?:createHash|hash)(?:, )?)+ \} from 'node:crypto'$/m

/** Pure code uses no clock, chance, I/O, environment or logger, and imports no code that does. */
export function purityFaults(file: SourceFile): string[] {
  if (!isPure(file.path) || !file.isProduction) return []
  const code = file.text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
  const used = IMPURE.filter(pattern => pattern.test(code)).map(pattern => `uses ${pattern.exec(code)?.[0]}`)
  const imported = file.imports.flatMap(({ specifier, target, isTypeOnly }) => {
    if (isTypeOnly && (target !== undefined || specifier.startsWith('@backstop/'))) return []
    if (target !== undefined) return isPure(target) ? [] : [`imports ${specifier}, which is not pure`]
    if (PURE_PACKAGES.includes(specifier)) return []
    if (specifier === 'node:crypto' && HASHING.test(file.text)) return []
    return [`imports ${specifier}`]
  })
  return [...used, ...imported].map(fault => `${file.path}: pure code ${fault}`)
}

/** A model that a test compares with the product proves nothing if it shares the product's code and bugs. */
export function modelFaults({ path, imports }: SourceFile): string[] {
  if (!/^(?:packages|services)\/[^/]+\/test\/model\//.test(path)) return []
  return imports
    .filter(({ specifier, isTypeOnly }) => specifier !== '@backstop/contracts' || !isTypeOnly)
    .map(
      ({ specifier }) =>
        `${path}: a model takes nothing of the product but the types of its contracts, and ${specifier}`,
    )
}

/** Settings are read once, in config.ts. Any other use of process.env is an undocumented setting. */
const READS_ENVIRONMENT = new Set([
  'packages/kit/src/service/run-service.ts',
  'packages/cli/src/main.ts',
  'packages/provision/src/main.ts',
  'packages/provision/src/wait-main.ts',
  'packages/provision/src/network-policy-main.ts',
  'packages/provision/src/duplicates-main.ts',
  'stack/src/main.ts',
  // The programs that these files start inherit the environment.
  'stack/src/downloads/python.ts',
  'stack/src/embedded-part.ts',
])

export function environmentFaults(file: SourceFile): string[] {
  if (!file.isProduction || READS_ENVIRONMENT.has(file.path)) return []
  return /\bprocess\.env\b/.test(file.text) ? [`${file.path}: reads process.env; take the setting from config.ts`] : []
}

/** The files that may read the clock of their host, with the reason. */
const READS_HOST_CLOCK: Readonly<Record<string, string>> = {
  'packages/kit/src/clock/': 'it measures that clock',
  'packages/kit/src/bus/kafka-bus.ts': 'tests and tools stamp their messages with it',
  'packages/kit/src/bus/kafkajs/idle-timer-patch.ts': 'kafkajs keeps its own time by it',
  'packages/kit/src/bus/kafkajs/connection-patch.ts': 'kafkajs keeps its own time by it',
  'packages/provision/': 'the deploy job decides nothing by the time',
  'packages/cli/': 'a tool on the machine of a person, who names windows by its clock',
  'packages/client/': 'it runs in the software of a customer',
  'packages/console/': 'it runs in a browser, and shows times by its clock',
  'packages/simulator/': 'it simulates providers and receivers',
}

/** A wrong clock of one process opens false incidents, so services take the time from the Clock port. */
export function timeFaults({ path, text, isProduction, workspace }: SourceFile): string[] {
  const isService = /^(?:packages|services)\//.test(workspace)
  if (!isProduction || !isService || Object.keys(READS_HOST_CLOCK).some(place => path.startsWith(place))) return []
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
  const used = /\bDate\.now\b|\bnew Date\(\s*\)|\bsystemClock\b/.exec(code)
  return used === null ? [] : [`${path}: uses ${used[0]}; take the time from the Clock port`]
}

/** A switch as the formatter writes it: its indentation, its expression and its branches. */
const SWITCH = /^( *)switch \((.*)\) \{$([\s\S]*?)^\1\}$/gm

/**
 * A switch without a default does nothing for a case that is added later. For the kinds of a union the default is `satisfies
 * never`, so that the compiler names every switch that lacks the new kind.
 */
export function switchFaults({ path, text, isProduction }: SourceFile): string[] {
  if (!isProduction) return []
  return [...text.matchAll(SWITCH)].flatMap(([, indent, about = '', branches = '']) => {
    const fallback = new RegExp(`^${indent}  default:([\\s\\S]*)`, 'm').exec(branches)?.[1]
    if (fallback === undefined) return [`${path}: the switch on ${about} has no default`]
    const isOfKinds = /(?:\.|^)kind$/.test(about)
    return isOfKinds && !fallback.includes('satisfies never')
      ? [
          `${path}: the default of the switch on ${about} accepts kinds that are added later; end it with satisfies never`,
        ]
      : []
  })
}

const MEANINGLESS_NAME = /^(?:utils?|helpers?|manager|data|common|misc)$/
const MOST_LINES = 350
/** Files that a program writes. */
const GENERATED = 'packages/client/src/generated/'

/** The name of a file says what it contains, and a file has one purpose. */
export function fileFaults({ path, text, isProduction }: SourceFile): string[] {
  const parts = path.replace(/\.tsx?$/, '').split('/')
  const lines = path.startsWith(GENERATED) ? 0 : text.split('\n').length
  return [
    ...parts.filter(part => MEANINGLESS_NAME.test(part)).map(part => `${path}: the name ${part} says nothing`),
    ...(isProduction && lines > MOST_LINES ? [`${path}: ${lines} lines are more than one thing; split it`] : []),
  ]
}

/** File names that occur in two folders of a service. A reader would open the wrong file. */
export function repeatedNames(files: readonly SourceFile[]): string[] {
  const named = files.filter(
    ({ path, isProduction }) => isProduction && path.startsWith('services/') && !/\/channels\/[^/]+\//.test(path),
  )
  return [...Map.groupBy(named, ({ path, workspace }) => `${workspace} ${path.split('/').at(-1)}`).values()]
    .filter(same => same.length > 1 && !same[0]?.path.endsWith('/index.ts'))
    .map(same => same.map(({ path }) => path).join(' and '))
}

/** Circles of imports between files. Type imports are included, because a reader of one file must read the other. */
export function findCycles(files: readonly SourceFile[]): string[][] {
  const byPath = new Map(files.map(file => [file.path, file]))
  return circlesOf([...byPath.keys()], path => (byPath.get(path)?.imports ?? []).flatMap(({ target }) => target ?? []))
}

/**
 * The circles of a graph, each with its first name repeated at the end. A depth-first search finds one circle for each edge back
 * to the current path.
 */
function circlesOf(names: readonly string[], next: (name: string) => readonly string[]): string[][] {
  const done = new Set<string>()
  const trail: string[] = []
  const circles: string[][] = []
  const visit = (name: string) => {
    const at = trail.indexOf(name)
    if (at >= 0) {
      circles.push([...trail.slice(at), name])
      return
    }
    if (done.has(name)) return
    trail.push(name)
    for (const to of next(name)) visit(to)
    trail.pop()
    done.add(name)
  }
  for (const name of names) visit(name)
  return circles
}
