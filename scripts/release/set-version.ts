import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { inNames, inPython } from './version.ts'

const ROOT = resolve(import.meta.dirname, '../..')
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

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/**
 * Writes the version of the code everywhere. `test/release.test.ts` names each place that disagrees.
 * @param next that of a release, such as 0.3.0, or that of what comes next, 0.4.0-dev
 */
export function setVersion(next = ''): string[] {
  if (!/^\d+\.\d+\.\d+(?:-dev)?$/.test(next)) throw new Error('Give a version, for example 0.3.0 or 0.4.0-dev')
  const { version: last } = JSON.parse(read('package.json')) as { version: string }
  const paths = ['package.json', ...globSync('{packages/*,services/*,stack}/package.json', { cwd: ROOT })]
  const setIn = (manifest: Manifest) => {
    manifest.version = next
    const { dependencies = {} } = manifest
    for (const name of Object.keys(dependencies)) {
      if (name.startsWith('@backstop/') && dependencies[name] !== '*') dependencies[name] = next
    }
  }
  for (const path of paths) changeJson(path, setIn)
  changeJson('package-lock.json', lock => {
    lock.version = next
    for (const path of paths) setIn(lock.packages[path.replace(/\/?package\.json$/, '')] ?? {})
  })
  for (const file of FILES) {
    writeFileSync(join(ROOT, file), read(file).replaceAll(last, next).replaceAll(inNames(last), inNames(next)))
  }
  for (const path of globSync('reporters/*/pyproject.toml', { cwd: ROOT })) {
    writeFileSync(join(ROOT, path), read(path).replace(/^version = .*$/m, `version = "${inPython(next)}"`))
  }
  return [`${last} is now ${next}`]
}

function changeJson(path: string, change: (document: Manifest & { packages: Record<string, Manifest> }) => void): void {
  const document = JSON.parse(read(path))
  change(document)
  writeFileSync(join(ROOT, path), `${JSON.stringify(document, undefined, 2)}\n`)
}
