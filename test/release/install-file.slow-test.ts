/** The files of a release, written by the steps of the workflow itself. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { refuseUnknownSettings } from '../../packages/provision/src/unknown-settings/refuse-unknown-settings.ts'
import { writeInstallFiles } from '../../scripts/release/install-file.ts'
import { IMAGES, PROGRAMS } from '../../scripts/release/places.ts'
import { ensureKubectl } from '../deploy/kubernetes-tools.ts'
import { READERS, SAMPLE_SECRETS } from '../deploy/readers.ts'
import { containersOf, environmentOf, type Manifest, nameOf, ofKind, render, workloads } from '../deploy/rendered.ts'
import { schemaChecker } from '../deploy/schemas.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const digestOf = (program: string) => `sha256:${createHash('sha256').update(program).digest('hex')}`

let folder: string
let assets: string
let manifests: Manifest[]
let kubectl: string
beforeAll(async () => {
  kubectl = await ensureKubectl()
  folder = mkdtempSync(join(tmpdir(), 'backstop-release-'))
  const places = Object.fromEntries(['IMAGES', 'PACKAGES', 'PYTHON', 'ASSETS'].map(name => [name, join(folder, name)]))
  for (const place of Object.values(places)) mkdirSync(place)
  assets = join(folder, 'ASSETS')
  writeImages(PROGRAMS)
  writeFileSync(join(folder, 'PACKAGES/a.tgz'), 'a')
  writeFileSync(join(folder, 'PYTHON/a.whl'), 'b')
  const workflow = parse(readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8'))
  const [step] = workflow.jobs.publish.steps.filter(({ name }: { name?: string }) =>
    name?.startsWith('Render install.yaml'),
  )
  execFileSync('bash', ['-e', '-o', 'pipefail', '-c', step.run], { cwd: ROOT, env: { ...process.env, ...places } })
  manifests = parseAllDocuments(readFileSync(join(assets, 'install.yaml'), 'utf8')).map(one => one.toJS() as Manifest)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Writes the metadata of pushed images, as docker buildx does. */
function writeImages(programs: readonly string[]) {
  for (const program of programs) {
    const metadata = { 'image.name': `${program}:1`, 'containerimage.digest': digestOf(program) }
    writeFileSync(join(folder, `IMAGES/${program}.json`), JSON.stringify(metadata))
  }
}

const allContainers = () =>
  workloads(manifests).flatMap(workload => containersOf(workload).map(one => ({ workload, one })))

describe('install.yaml', () => {
  test('has each image by the digest that was pushed', () => {
    const images = new Set(allContainers().map(({ one }) => one.image))
    expect([...images].sort()).toEqual(
      PROGRAMS.map(program => `${IMAGES}/backstop-${program}@${digestOf(program)}`).sort(),
    )
  })

  test.each([30, 37])('has objects that match the schemas of Kubernetes 1.%s', async minor => {
    expect(manifests.flatMap(await schemaChecker(minor))).toEqual([])
  })

  test('has the objects of the production overlay, except for the settings, which the operator creates', async () => {
    const production = (await render('overlays/production')).filter(({ kind }) => kind !== 'ConfigMap')
    expect(manifests.map(nameOf)).toEqual(production.map(nameOf))
    const named = [...JSON.stringify(manifests).matchAll(/"(?:configMap\w+)":\{[^}]*"name":"([^"]+)"/g)].map(
      ([, name]) => name,
    )
    expect(named.length).toBeGreaterThan(10)
    expect(new Set(named)).toEqual(new Set(['backstop-settings']))
  })

  test('can be complemented by the network policy of docs/install.md, which is for all of its pods', async () => {
    const page = readFileSync(join(ROOT, 'docs/install.md'), 'utf8')
    const policy = parse(page.match(/<<END\n([\s\S]*?)\n {4}END\n/)?.[1] ?? '') as Manifest
    expect((await schemaChecker(30))(policy)).toEqual([])
    expect(policy.metadata.namespace).toBe((manifests[0] as Manifest).metadata.name)
    for (const { spec } of ofKind(manifests, 'Deployment', 'Job'))
      expect(spec.template.metadata.labels).toMatchObject(policy.spec.podSelector.matchLabels)
    expect(manifests.map(nameOf)).not.toContain(nameOf(policy))
  })

  test('creates its namespace first, so that one apply is enough', () => {
    expect(nameOf(manifests[0] as Manifest)).toBe('Namespace/backstop')
  })
})

describe('the files that an operator fills in', () => {
  const create = (...args: string[]) =>
    parse(
      execFileSync(kubectl, ['create', ...args, '--dry-run=client', '--output=yaml'], {
        cwd: assets,
        encoding: 'utf8',
      }),
    )

  test('settings.env becomes the ConfigMap, with which every program starts', () => {
    const map = create('configmap', 'backstop-settings', '--from-env-file=settings.env') as Manifest
    expect(map.data).toMatchObject({
      KAFKA_BROKERS: expect.stringMatching(/./),
      TOPIC_REPLICATION: '3',
      HEARTBEAT: 'on',
    })
    for (const [name, value] of Object.entries(SAMPLE_SECRETS)) writeFileSync(join(folder, name), value)
    const started = allContainers().map(({ workload, one }) => {
      const environment = Object.fromEntries(
        Object.entries(environmentOf([map], one)).map(([name, value]) => [
          name,
          value.startsWith('/run/secrets/') ? join(folder, basename(value)) : value,
        ]),
      )
      expect(() => refuseUnknownSettings(environment)).not.toThrow()
      const name = one.name === 'main' ? workload.metadata.labels?.['app.kubernetes.io/component'] : one.name
      READERS[name ?? '']?.read(environment)
      return name
    })
    expect(new Set(started)).toEqual(new Set(Object.keys(READERS)))
  })

  test('secrets.env becomes the Secret, with the keys that pods mount', () => {
    const secret = create('secret', 'generic', 'backstop-secrets', '--from-env-file=secrets.env') as Manifest
    const mounted = ofKind(manifests, 'Deployment', 'Job').flatMap(({ spec }) =>
      spec.template.spec.volumes.flatMap(({ secret }: { secret?: { secretName: string; items: { key: string }[] } }) =>
        secret?.secretName === 'backstop-secrets' ? secret.items.map(({ key }) => key) : [],
      ),
    )
    expect(Object.keys(secret.data ?? {}).sort()).toEqual([...new Set(mounted)].sort())
  })
})

test('SHA256SUMS has every file, and finds a changed one', () => {
  const check = () => execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: assets, stdio: 'pipe' })
  const sums = readFileSync(join(assets, 'SHA256SUMS'), 'utf8')
  const named = [...sums.matchAll(/^[0-9a-f]{64} {2}(.*)$/gm)].map(([, name]) => name)
  expect(named).toEqual(['a.tgz', 'a.whl', 'install.yaml', 'secrets.env', 'settings.env'])
  expect(readdirSync(assets).sort()).toEqual(['SHA256SUMS', ...named])
  check()
  writeFileSync(join(assets, 'a.tgz'), 'b')
  expect(check).toThrow('1 computed checksum did NOT match')
  writeFileSync(join(assets, 'a.tgz'), 'a')
})

test('an image without a digest is refused', async () => {
  writeFileSync(join(folder, 'IMAGES/notifier.json'), '{}')
  await expect(writeInstallFiles(join(folder, 'IMAGES'), folder)).rejects.toThrow(
    'The metadata of the image notifier has no digest',
  )
  rmSync(join(folder, 'IMAGES/notifier.json'))
  await expect(writeInstallFiles(join(folder, 'IMAGES'), folder)).rejects.toThrow('notifier.json')
})
