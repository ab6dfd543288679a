import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { baseImagesOf } from '../images/base-images.ts'
import { toCycloneDx } from './cyclonedx.ts'
import { type Installed, type LockFile, productionPackages } from './lock-file.ts'

export const ROOT = resolve(import.meta.dirname, '../..')
/** What the Dockerfile removes before it installs: the simulator of the providers, and the console, whose build is copied. */
export const NOT_INSTALLED = ['packages/simulator', 'packages/console']

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** The packages that npm installs for the images of the four services and of the deploy job, according to the lock file. */
export function installedPackages(): Installed[] {
  const lock = readLock()
  const workspaces = Object.keys(lock.packages).filter(
    path => /^(?:packages|services)\/[^/]+$/.test(path) && !NOT_INSTALLED.includes(path),
  )
  return productionPackages(lock, workspaces)
}

/** The installed packages, and those that the built console contains. */
export function deployedPackages(): Installed[] {
  const installed = installedPackages()
  const paths = new Set(installed.map(({ path }) => path))
  const bundled = productionPackages(readLock(), ['packages/console']).filter(({ path }) => !paths.has(path))
  return [...installed, ...bundled]
}

const readLock = () => JSON.parse(read('package-lock.json')) as LockFile

/** The software bill of materials of the images, as text. */
export function sbom(): string {
  const { name, version, license } = JSON.parse(read('package.json')) as Record<'name' | 'version' | 'license', string>
  const images = baseImagesOf(read('Dockerfile'))
  return `${JSON.stringify(toCycloneDx({ name, version, license, packages: deployedPackages(), images }), undefined, 2)}\n`
}
