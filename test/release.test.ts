/** Everything that names the version of a release agrees. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { PROGRAMS } from '../scripts/release/places.ts'
import { inPython } from '../scripts/release/version.ts'

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

test('the packages of Python have it', () => {
  for (const path of globSync('reporters/*/pyproject.toml', { cwd: ROOT })) {
    expect(read(path)).toContain(`\nversion = "${inPython(version)}"\n`)
  }
})

test('the lock file and the images name it', () => {
  expect(lock.version).toBe(version)
  expect(read('Dockerfile')).toContain(`ARG VERSION=${version}\n`)
  const images = [...read('docker-compose.yml').matchAll(/image: \S*(backstop-[a-z-]+):(\S+)/g)]
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
  expect(text).toContain('version=$(node scripts/release.ts image-version)')
  expect(text).toContain('--build-arg VERSION="$version" --tag "backstop-$target:$version"')
})

test('docs/upgrade.md says how to update to it from the release before', () => {
  const releases = [...read('CHANGELOG.md').matchAll(/^## (\d\S*)/gm)].map(([, release]) => release)
  expect(read('docs/upgrade.md')).toContain(`## From ${releases[1]} to ${releases[0]}\n`)
})

const workflows = globSync('.github/workflows/*.yml', { cwd: ROOT })

test.each(workflows)('%s runs commands that exist, and pins each action by its commit', path => {
  const text = read(path)
  const { jobs } = parse(text) as { jobs: Record<string, { uses?: string; steps?: { run?: string }[] }> }
  const commands = Object.values(jobs).flatMap(({ steps = [] }) => steps.flatMap(({ run }) => run ?? []))
  const used = (pattern: RegExp) =>
    commands.flatMap(command => [...command.matchAll(pattern)].map(match => match[1] ?? ''))
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  expect(commands.length).toBeGreaterThan(1)
  expect(used(/npm run ([\w:-]+)/g).filter(name => scripts[name] === undefined)).toEqual([])
  expect(used(/node (scripts\S+)/g).filter(script => !existsSync(join(ROOT, script)))).toEqual([])
  const steps = [...read('scripts/release.ts').matchAll(/^ {2}'?([\w-]+)'?: async/gm)].map(([, step]) => step)
  expect(used(/scripts\/release\.ts ([\w-]+)/g).filter(step => !steps.includes(step))).toEqual([])
  for (const [, action = '', comment = ''] of text.matchAll(/uses: (\S+)(.*)/g)) {
    if (action.startsWith('./')) {
      expect(workflows).toContain(action.slice(2))
      continue
    }
    expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40}$/)
    expect(comment).toMatch(/^ # v\d+\.\d+\.\d+$/)
  }
})

test.each(['ci.yml', 'release.yml'])('%s builds each published image, and the Dockerfile has its target', name => {
  const targets = [...read('Dockerfile').matchAll(/^FROM \S+ AS ([\w-]+)$/gm)].map(([, target]) => target)
  const [, built = ''] = /for target in ([^;]+);/.exec(read(`.github/workflows/${name}`)) ?? []
  expect(built.split(' ')).toEqual(PROGRAMS)
  expect(PROGRAMS.filter(program => !targets.includes(program))).toEqual([])
})

test('a release tests the tagged commit, and pushes each image with SBOM, provenance and signature before it publishes', () => {
  const { jobs } = parse(read('.github/workflows/release.yml')) as {
    jobs: Record<string, { uses?: string; needs?: string; steps?: { run?: string; uses?: string }[] }>
  }
  expect(jobs.test?.uses).toBe('./.github/workflows/ci.yml')
  expect(parse(read('.github/workflows/ci.yml')).on).toHaveProperty('workflow_call')
  expect(jobs.publish?.needs).toBe('test')
  const steps = jobs.publish?.steps?.map(({ run, uses }) => run ?? uses ?? '') ?? []
  const order = [
    'release.ts notes',
    'release.ts pack',
    '--push',
    'release.ts install',
    'npm publish',
    'pypi-publish',
    'gh release create',
  ]
  const found = order.map(part => steps.findIndex(step => step.includes(part)))
  expect(found).toEqual(found.toSorted((a, b) => a - b))
  expect(found).not.toContain(-1)
  const push = steps.find(step => step.includes('--push'))
  for (const part of ['linux/amd64,linux/arm64', '--sbom=true', '--provenance=mode=max', 'cosign sign --yes "$image@'])
    expect(push).toContain(part)
})

test('docs name the places of a release with the placeholder of its owner, as scripts/release/places.ts has them', () => {
  const pages = ['docs/install.md', 'deploy/k8s/README.md'].map(read).join('\n')
  const places = [...pages.matchAll(/(ghcr\.io|github\.com)\/(\w+)/g)]
  expect(places.length).toBeGreaterThan(3)
  expect(places.filter(([, , owner]) => owner !== 'OWNER').map(([place]) => place)).toEqual([])
  const code = read('scripts/release/places.ts')
  for (const host of new Set(places.map(([, host]) => host))) expect(code).toContain(`${host}/\${`)
})
