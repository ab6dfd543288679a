/** Everything that names the version of a release agrees. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const ROOT = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const packages = ['packages', 'services']
  .flatMap(folder => readdirSync(join(ROOT, folder)).map(name => `${folder}/${name}`))
  .concat('stack')
const { version } = JSON.parse(read('package.json')) as { version: string }
const lock = JSON.parse(read('package-lock.json')) as {
  version: string
  packages: Record<string, { version?: string }>
}

test.each(packages)('%s has the version of the release, and depends on the others in it', path => {
  const manifest = JSON.parse(read(`${path}/package.json`)) as {
    version: string
    dependencies?: Record<string, string>
  }
  const own = Object.entries(manifest.dependencies ?? {}).filter(([name]) => name.startsWith('@backstop/'))
  expect(manifest.version).toBe(version)
  expect(own.filter(([, wanted]) => wanted !== version && wanted !== '*')).toEqual([])
  expect(lock.packages[path]?.version).toBe(version)
})

test('the lock file and the images name it', () => {
  expect(lock.version).toBe(version)
  expect(read('Dockerfile')).toContain(`ARG VERSION=${version}\n`)
  const images = [...read('docker-compose.yml').matchAll(/image: (backstop-[a-z-]+):(\S+)/g)]
  expect(images.length).toBeGreaterThan(4)
  expect(images.filter(([, , tag]) => tag !== version).map(([line]) => line)).toEqual([])
})

test('code after a release has the version of the next one with -dev, so that nothing of it calls itself by the release', () => {
  const [first = '', second = ''] = [...read('CHANGELOG.md').matchAll(/^## (\S+)/gm)].map(([, heading = '']) => heading)
  if (first !== 'Unreleased') {
    expect(version).toBe(first)
    return
  }
  expect(version).toMatch(/^\d+\.\d+\.\d+-dev$/)
  expect(version.localeCompare(second, 'en', { numeric: true })).toBe(1)
})

test('the manifests name it', () => {
  const manifest = read('deploy/k8s/base/kustomization.yaml')
  const tags = [...manifest.matchAll(/newTag: ([^ }]+)/g)].map(([, tag]) => tag)
  expect(tags).toEqual(Array(5).fill(version))
  expect(manifest).toContain(`app.kubernetes.io/version: ${version}\n`)
  const jobs = [...manifest.matchAll(/value: backstop-[a-z-]+-(\d+-\d+-\d+\S*) \}/g)].map(([, inName]) => inName)
  expect(jobs).toEqual(Array(2).fill(version.replaceAll('.', '-')))
})

test('CI builds images whose tag has the commit, because code after a release is not the release', () => {
  const text = read('.github/workflows/ci.yml')
  expect(text).toContain('version=$(node scripts/image-version.ts)')
  expect(text).toContain('--build-arg VERSION="$version" --tag "backstop-$target:$version"')
})

test('docs/upgrade.md says how to update to it from the release before', () => {
  const releases = [...read('CHANGELOG.md').matchAll(/^## (\d\S*)/gm)].map(([, release]) => release)
  expect(read('docs/upgrade.md')).toContain(`## From ${releases[1]} to ${releases[0]}\n`)
})

test('the workflow of a public CI runs commands that exist, and pins each action by its commit', () => {
  const text = read('.github/workflows/ci.yml')
  const { jobs } = parse(text) as { jobs: Record<string, { steps: { run?: string }[] }> }
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))
  expect(commands).toContain('npm test')
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const named = commands.flatMap(command => [...command.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name))
  expect(named.filter(name => scripts[name] === undefined)).toEqual([])
  const targets = [...read('Dockerfile').matchAll(/^FROM \S+ AS ([\w-]+)$/gm)].map(([, name]) => name)
  const [, built = ''] = /for target in ([^;]+);/.exec(text) ?? []
  expect(built.split(' ').filter(target => !targets.includes(target))).toEqual([])
  const actions = [...text.matchAll(/uses: (\S+)(.*)/g)]
  expect(actions.length).toBeGreaterThan(3)
  for (const [, action = '', comment = ''] of actions) {
    expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40}$/)
    expect(comment).toMatch(/^ # v\d+\.\d+\.\d+$/)
  }
})
