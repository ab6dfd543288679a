/** The part of package-lock.json (version 3) that determines an installation. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

interface LockedPackage {
  readonly name?: string
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly optional?: boolean
  /** True for a workspace. In this case `resolved` is its folder. */
  readonly link?: boolean
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

export interface Installed {
  /** Its path in the lock file. */
  readonly path: string
  readonly name: string
  readonly version: string
  readonly locked: LockedPackage
  /** Paths of its dependencies, sorted. */
  readonly dependsOn: readonly string[]
}

/**
 * All packages that are installed for these workspaces in production. `npm sbom --omit dev` is not used, because it omits every
 * package that is also a development dependency, such as kafkajs and undici.
 * @param workspaces folders, as in the lock file
 */
export function productionPackages({ packages }: LockFile, workspaces: readonly string[]): Installed[] {
  const found = new Map<string, Installed>()
  const open = [...workspaces]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue
    const locked = packages[path]
    if (locked === undefined) throw new Error(`package-lock.json does not hold ${path}`)
    const dependsOn = dependenciesOf(locked).flatMap(({ name, isRequired }) => {
      const at = resolveFrom(packages, path, name)
      if (at === undefined && isRequired)
        throw new Error(`package-lock.json does not hold ${name}, which ${path} needs`)
      return at ?? []
    })
    const name = locked.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    found.set(path, { path, name, version: locked.version ?? '', locked, dependsOn: dependsOn.sort() })
    open.push(...dependsOn)
  }
  return [...found.values()].sort((a, b) => compare(a.name, b.name) || compare(a.path, b.path))
}

/** Compares texts by code unit, so that the order is the same on every machine. */
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function dependenciesOf(locked: LockedPackage): { name: string; isRequired: boolean }[] {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = locked
  const peers = Object.keys(peerDependencies).filter(name => peerDependenciesMeta[name]?.optional !== true)
  return [
    ...Object.keys({ ...dependencies }).map(name => ({ name, isRequired: !(name in optionalDependencies) })),
    ...Object.keys(optionalDependencies).map(name => ({ name, isRequired: false })),
    ...peers.map(name => ({ name, isRequired: true })),
  ].filter(({ name }, at, all) => all.findIndex(other => other.name === name) === at)
}

/** Resolves the name of a package like Node: in node_modules of the folder, then of each parent folder. */
function resolveFrom(packages: LockFile['packages'], path: string, name: string): string | undefined {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const candidate = packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`]
    if (candidate !== undefined) {
      return candidate.link === true ? candidate.resolved : `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    }
    if (folder === '') return undefined
  }
}
