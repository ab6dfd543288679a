/**
 * `npm run set-version -- <version>` writes the version of the code everywhere: that of a release, for example 0.3.0, or afterwards the
 * one of what comes next, 0.4.0-dev. `test/release.test.ts` names each place that disagrees.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { inNames } from './images/version.ts'

const ROOT = resolve(import.meta.dirname, '..')
/** Files whose images, labels and jobs have the version. */
const FILES = [
  'Dockerfile',
  'docker-compose.yml',
  'deploy/k8s/base/kustomization.yaml',
  'deploy/k8s/README.md',
  'README.md',
]

interface Manifest {
  version?: string
  dependencies?: Record<string, string>
}

const [next = ''] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+(?:-dev)?$/.test(next)) throw new Error('Give a version, for example 0.3.0 or 0.4.0-dev')
const manifestPaths = ['package.json', ...globSync('{packages/*,services/*,stack}/package.json', { cwd: ROOT })]
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const { version: last } = JSON.parse(read('package.json')) as { version: string }

function setVersion(manifest: Manifest): void {
  manifest.version = next
  const { dependencies = {} } = manifest
  for (const name of Object.keys(dependencies)) {
    if (name.startsWith('@backstop/') && dependencies[name] !== '*') dependencies[name] = next
  }
}

function changeJson(path: string, change: (document: Manifest & { packages: Record<string, Manifest> }) => void): void {
  const document = JSON.parse(read(path))
  change(document)
  writeFileSync(join(ROOT, path), `${JSON.stringify(document, undefined, 2)}\n`)
}

for (const path of manifestPaths) changeJson(path, setVersion)
changeJson('package-lock.json', lock => {
  lock.version = next
  for (const path of manifestPaths) setVersion(lock.packages[path.replace(/\/?package\.json$/, '')] ?? {})
})
for (const file of FILES) {
  writeFileSync(join(ROOT, file), read(file).replaceAll(last, next).replaceAll(inNames(last), inNames(next)))
}
process.stdout.write(`${last} is now ${next}\n`)
