/** The majors of the providers' libraries, as customers have them. They are installed once for each version of their lock file. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const SOURCE = join(import.meta.dirname, 'majors')
const ROOT = resolve(import.meta.dirname, '../../..')
const INSTALL = ['ci', '--ignore-scripts', '--omit=optional', '--loglevel=error']

/** Installs the libraries, if they are not installed yet. @returns a function that loads one by its name, e.g. `stripe-12` */
export async function installMajors(): Promise<(name: string) => unknown> {
  const lock = await readFile(join(SOURCE, 'package-lock.json'))
  const folder = join(ROOT, '.backstop', `majors-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`)
  const load = createRequire(join(folder, 'package.json'))
  const isInstalled = await readFile(join(folder, 'package.json')).then(
    () => true,
    () => false,
  )
  if (!isInstalled) {
    const unfinished = `${folder}.${process.pid}`
    await mkdir(unfinished, { recursive: true })
    await cp(SOURCE, unfinished, { recursive: true })
    await cp(join(ROOT, '.npmrc'), join(unfinished, '.npmrc'))
    await promisify(execFile)('npm', INSTALL, { cwd: unfinished, timeout: 240_000 })
    // Another process may have been faster.
    await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true, force: true }))
  }
  return name => load(name)
}
