import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NOT_OURS, READERS, SAMPLE_SECRETS, settingOf } from './readers.ts'
import {
  BUNDLES,
  type Container,
  containersOf,
  K8S_FOLDER,
  type Manifest,
  ofBackstop,
  ofKind,
  render,
  workloads,
} from './rendered.ts'

const MOUNT = '/run/secrets/backstop'

const bundles = new Map<string, Manifest[]>()
let secrets: string
beforeAll(async () => {
  for (const bundle of BUNDLES) bundles.set(bundle, await render(bundle))
  secrets = mkdtempSync(join(tmpdir(), 'backstop-secrets-'))
  for (const [name, value] of Object.entries(SAMPLE_SECRETS)) writeFileSync(join(secrets, name), `${value}\n`)
}, 600_000)
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
function environmentOf(bundle: string, { env = [] }: Container): Record<string, string> {
  const maps = new Map(ofKind(bundles.get(bundle) as Manifest[], 'ConfigMap').map(map => [map.metadata.name, map.data]))
  return Object.fromEntries(
    env.flatMap(({ name, value, valueFrom }) => {
      const reference = valueFrom?.configMapKeyRef
      const given = reference === undefined ? value : maps.get(reference.name)?.[reference.key]
      if (given === undefined && reference?.optional) return []
      if (given === undefined) throw new Error(`${name} refers to what is not there: ${JSON.stringify(valueFrom)}`)
      return [[name, given.startsWith(`${MOUNT}/`) ? join(secrets, basename(given)) : given]]
    }),
  )
}

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
    for (const { name, container } of programsOf(bundle)) READERS[name]?.read(environmentOf(bundle, container))
  })

  test('every setting of settings.env reaches each program that knows it', () => {
    const maps = ofKind(bundles.get(bundle) as Manifest[], 'ConfigMap')
    const ignored: string[] = []
    for (const { name, container } of programsOf(bundle)) {
      const read = (container.env ?? []).flatMap(variable => {
        const reference = variable.valueFrom?.configMapKeyRef
        return reference === undefined ? [] : [{ setting: variable.name, ...reference }]
      })
      const map = maps.find(({ metadata }) => metadata.name === read[0]?.name)
      for (const key of Object.keys(map?.data ?? {})) {
        const setting = settingOf(key, name)
        if (setting === undefined || read.some(one => one.setting === setting && one.key === key)) continue
        ignored.push(`${key} by ${name}`)
      }
    }
    expect(ignored).toEqual([])
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
    programsOf(bundle).flatMap(({ container }) => environmentOf(bundle, container).EGRESS_ALLOW_CIDRS ?? [])
  expect(allowed('overlays/production')).toEqual(['', '', ''])
  expect(new Set(allowed('overlays/local')).size).toBe(1)
  expect(allowed('overlays/local')[0]).toMatch(/^127\.77\.0\.1\/32,10\./)
})

test('production stores three copies and waits for two', () => {
  const job = programsOf('overlays/production').find(({ name }) => name === 'provision') as Program
  expect(environmentOf('overlays/production', job.container)).toMatchObject({
    TOPIC_REPLICATION: '3',
    TOPIC_MIN_INSYNC: '2',
  })
})
