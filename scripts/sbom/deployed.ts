import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { baseImagesOf } from '../images/base-images.ts'
import { toCycloneDx } from './cyclonedx.ts'
import { type Installed, type LockFile, productionPackages } from './lock-file.ts'

export const ROOT = resolve(import.meta.dirname, '../..')
/** The simulator of the providers, which the Dockerfile removes from every image. */
const NOT_DEPLOYED = new Set(['packages/simulator'])

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** The packages in the images of the four services and the deploy job, according to the lock file. */
export function deployedPackages(): Installed[] {
  const lock = JSON.parse(read('package-lock.json')) as LockFile
  const workspaces = Object.keys(lock.packages).filter(
    path => /^(?:packages|services)\/[^/]+$/.test(path) && !NOT_DEPLOYED.has(path),
  )
  return productionPackages(lock, workspaces)
}

/** The software bill of materials of the images, as text. */
export function sbom(): string {
  const { name, version, license } = JSON.parse(read('package.json')) as Record<'name' | 'version' | 'license', string>
  const images = baseImagesOf(read('Dockerfile'))
  return `${JSON.stringify(toCycloneDx({ name, version, license, packages: deployedPackages(), images }), undefined, 2)}\n`
}
