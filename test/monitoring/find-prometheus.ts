import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { cacheFolder } from '@backstop/stack'

/** Paths of Prometheus and of its tool for rules. */
export interface PrometheusPrograms {
  readonly prometheus: string
  readonly promtool: string
}

const NAMES = ['prometheus', 'promtool'] as const
const REMEDY =
  'Install Prometheus 2.40 or later with promtool, or set PROMETHEUS_HOME to the folder of both programs (on Debian and Ubuntu they are fetched)'

/**
 * Finds the programs in PROMETHEUS_HOME or the PATH. Otherwise fetches the packages of Debian or Ubuntu, without root and without
 * installing them.
 * @throws Error with the remedy if this machine has none and can fetch none
 */
export function findPrometheus(env: NodeJS.ProcessEnv): PrometheusPrograms {
  const folders = [env.PROMETHEUS_HOME, ...(env.PATH ?? '').split(delimiter)].filter(folder => folder !== undefined)
  const folder = folders.find(hasBoth) ?? fetchPrograms(cacheFolder(env))
  return { prometheus: join(folder, 'prometheus'), promtool: join(folder, 'promtool') }
}

const hasBoth = (folder: string) => NAMES.every(name => existsSync(join(folder, name)))

/** Fetches the programs into the cache of all clones, unless they are there. The folder appears complete or not at all. */
function fetchPrograms(cache: string): string {
  const target = join(cache, `prometheus-${process.platform}-${process.arch}`)
  if (hasBoth(target)) return target
  const work = join(cache, 'incoming', `prometheus-${process.pid}`)
  mkdirSync(join(work, 'programs'), { recursive: true })
  try {
    // Some releases have promtool in a package of its own.
    for (const name of NAMES) {
      if (!existsSync(join(work, 'unpacked/usr/bin', name))) unpackPackage(name, work)
      copyFileSync(join(work, 'unpacked/usr/bin', name), join(work, 'programs', name))
    }
    if (!hasBoth(target)) renameSync(join(work, 'programs'), target)
  } catch (error) {
    if (!hasBoth(target)) throw new Error(REMEDY, { cause: error })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return target
}

/** Downloads a package, which apt verifies, and unpacks it. */
function unpackPackage(name: string, work: string): void {
  console.log(`Fetching the package ${name}: 20 MB, needed once…`)
  try {
    apt(['download', name], work)
  } catch {
    // This machine has no lists of packages, or old ones. A folder of our own needs no root.
    const own = ownLists(work)
    apt([...own, 'update'], work)
    apt([...own, 'download', name], work)
  }
  const archive = readdirSync(work).find(file => file.startsWith(`${name}_`) && file.endsWith('.deb'))
  if (archive === undefined) throw new Error(`apt-get downloaded no package ${name}`)
  execFileSync('dpkg-deb', ['-x', archive, 'unpacked'], { cwd: work })
}

function ownLists(work: string): string[] {
  for (const folder of ['state/lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(work, folder), { recursive: true })
  }
  const options = [`Dir::State=${work}/state`, `Dir::Cache=${work}/cache`, 'Dir::State::status=/var/lib/dpkg/status']
  return options.flatMap(option => ['-o', option])
}

function apt(args: readonly string[], cwd: string): void {
  execFileSync('apt-get', ['-qq', '-o', 'APT::Sandbox::User=root', ...args], {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}
