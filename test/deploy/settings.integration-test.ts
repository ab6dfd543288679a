import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KNOWN_SETTINGS } from '../../packages/provision/src/unknown-settings/known-settings.ts'
import {
  refuseUnknownSettings,
  settingFault,
} from '../../packages/provision/src/unknown-settings/refuse-unknown-settings.ts'
import { NOT_OURS, PREFIXED, READERS, SAMPLE_SECRETS, settingOf } from './readers.ts'
import {
  BUNDLES,
  type Container,
  containersOf,
  environmentOf,
  K8S_FOLDER,
  type Manifest,
  ofBackstop,
  render,
  renderOverlay,
  workloads,
} from './rendered.ts'

const MOUNT = '/run/secrets/backstop'

const bundles = new Map<string, Manifest[]>()
let secrets: string
beforeAll(async () => {
  for (const bundle of BUNDLES) bundles.set(bundle, await render(bundle))
  secrets = mkdtempSync(join(tmpdir(), 'backstop-secrets-'))
  for (const [name, value] of Object.entries(SAMPLE_SECRETS)) writeFileSync(join(secrets, name), `${value}\n`)
})
afterAll(() => rmSync(secrets, { recursive: true, force: true }))

interface Program {
  name: string
  workload: Manifest
  container: Container
}

/** The containers of a bundle, each with the name of its program. */
function programsOf(bundle: string): Program[] {
  return workloads(ofBackstop(bundles.get(bundle) as Manifest[])).flatMap(workload =>
    containersOf(workload).map(container => ({
      name: container.name === 'main' ? component(workload) : container.name,
      workload,
      container,
    })),
  )
}

const component = ({ metadata }: Manifest) => metadata.labels?.['app.kubernetes.io/component'] ?? ''

/** The environment of the container, with samples for mounted secrets. */
const environmentIn = (bundle: string, container: Container) =>
  Object.fromEntries(
    Object.entries(environmentOf(bundles.get(bundle) as Manifest[], container)).map(([name, value]) => [
      name,
      value.startsWith(`${MOUNT}/`) ? join(secrets, basename(value)) : value,
    ]),
  )

describe.each(BUNDLES)('in %s', bundle => {
  test('runs every program', () => {
    // The local overlay has no network-policy check, because it allows the connections that the check forbids.
    const all = Object.keys(READERS).filter(name => bundle !== 'overlays/local' || name !== 'network-policy-check')
    expect(new Set(programsOf(bundle).map(({ name }) => name))).toEqual(new Set(all))
  })

  test('every variable is a setting that its program knows', () => {
    for (const { name, container } of programsOf(bundle)) {
      const given = (container.env ?? []).map(variable => variable.name.replace(/_FILE$/, ''))
      expect(given.filter(variable => !NOT_OURS.has(variable) && !READERS[name]?.names.includes(variable))).toEqual([])
      expect(new Set(given).size).toBe(given.length)
    }
  })

  test('every program starts with its settings', () => {
    for (const { name, container } of programsOf(bundle)) READERS[name]?.read(environmentIn(bundle, container))
  })

  test('settings.env has no name that the programs refuse', () => {
    for (const { name, container } of programsOf(bundle)) {
      expect(() => refuseUnknownSettings(environmentIn(bundle, container)), name).not.toThrow()
    }
  })

  test('secrets are mounted files, and only those that the program reads', () => {
    for (const { name, workload, container } of programsOf(bundle)) {
      if (name === 'wait-for-provision') continue
      const read = (container.env ?? []).flatMap(({ value }) => (value?.startsWith(MOUNT) ? [basename(value)] : []))
      const volume = workload.spec.template.spec.volumes.find((one: { secret?: object }) => one.secret !== undefined)
      if (volume === undefined) {
        expect(read, name).toEqual([])
        continue
      }
      const mounted = volume.secret.items.map(({ key, path }: { key: string; path: string }) => {
        expect(path).toBe(key)
        return key
      })
      expect(mounted.sort(), name).toEqual(read.sort())
      expect(container.volumeMounts).toContainEqual({ name: volume.name, mountPath: MOUNT, readOnly: true })
      for (const { name, value } of container.env ?? []) {
        if (Object.hasOwn(SAMPLE_SECRETS, name)) expect(`${name}=${value}`).toBe('a mounted file')
      }
    }
  })
})

describe('a setting in the settings.env of an overlay', () => {
  /** A value for each line that settings.env may have, with which its place in the environment is found. */
  const lines = Object.fromEntries(
    [...KNOWN_SETTINGS, ...PREFIXED]
      .filter(name => settingFault(name) === undefined)
      .map(name => [name, `value-of-${name}`]),
  )
  let programs: { name: string; container: Container; environment: Record<string, string> }[]
  beforeAll(async () => {
    const manifests = await renderOverlay({
      namespace: 'backstop',
      resources: ['overlays/production'],
      settings: lines,
    })
    programs = workloads(manifests).flatMap(workload =>
      containersOf(workload).map(container => ({
        name: container.name === 'main' ? component(workload) : container.name,
        container,
        environment: environmentOf(manifests, container),
      })),
    )
  })

  test('reaches every program that reads it, by its own name', () => {
    expect(Object.keys(lines)).toEqual(expect.arrayContaining(['SHED_WAIT_MS', 'STORM_FROM', 'SWEEP_EVERY_MS']))
    const reached = new Set<string>()
    for (const { name, environment } of programs) {
      for (const line of Object.keys(lines)) {
        const setting = settingOf(line, name)
        if (setting === undefined) continue
        expect(environment[setting], `${line} of ${name}`).toBe(`value-of-${line}`)
        reached.add(line)
      }
    }
    expect(Object.keys(lines).filter(line => !reached.has(line))).toEqual([])
  })

  test('is refused before the service starts if no program has it', () => {
    const first = programs.filter(({ name }) => name === 'wait-for-provision' || name === 'provision')
    expect(first).toHaveLength(5)
    for (const { environment } of first) {
      expect(environment.SETTINGS_ENV_SHED_WAIT_MS).toBe('value-of-SHED_WAIT_MS')
    }
  })

  test('that is a mounted secret is refused by the program, as given twice', () => {
    const mounted = programs.flatMap(({ name, container, environment }) =>
      (container.env ?? [])
        .filter(({ name: variable, value }) => variable.endsWith('_FILE') && value?.startsWith(MOUNT))
        .map(variable => ({ name, environment, setting: variable.name.replace(/_FILE$/, '') })),
    )
    expect(mounted.length).toBeGreaterThan(10)
    for (const { name, environment, setting } of mounted) {
      expect(() => READERS[name]?.read(environment)).toThrow(`${setting}: set ${setting} or ${setting}_FILE, not both`)
    }
  })
})

test('the keys of the example Secret are the mounted ones', () => {
  const mounted = programsOf('overlays/production').flatMap(({ workload }) =>
    workload.spec.template.spec.volumes.flatMap(({ secret }: { secret?: { items: { key: string }[] } }) =>
      (secret?.items ?? []).map(({ key }) => key),
    ),
  )
  const example = readFileSync(join(K8S_FOLDER, 'overlays/production/secrets.example.env'), 'utf8')
  const named = [...example.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name)
  expect(named.sort()).toEqual([...new Set(mounted)].sort())
  expect(named).toEqual(Object.keys(SAMPLE_SECRETS).sort())
})

test('only the local overlay lets users choose addresses that are not public', () => {
  const allowed = (bundle: string) =>
    programsOf(bundle).flatMap(({ name, container }) =>
      READERS[name]?.names.includes('EGRESS_ALLOW_CIDRS') ? environmentIn(bundle, container).EGRESS_ALLOW_CIDRS : [],
    )
  expect(allowed('overlays/production')).toEqual(['', '', ''])
  expect(new Set(allowed('overlays/local')).size).toBe(1)
  expect(allowed('overlays/local')[0]).toMatch(/^127\.77\.0\.1\/32,10\./)
})

test('production stores three copies and waits for two', () => {
  const job = programsOf('overlays/production').find(({ name }) => name === 'provision') as Program
  expect(environmentIn('overlays/production', job.container)).toMatchObject({
    TOPIC_REPLICATION: '3',
    TOPIC_MIN_INSYNC: '2',
  })
})
