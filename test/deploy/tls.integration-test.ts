/** The component for TLS and logins, on top of the production overlay. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { createCertificateAuthority } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { NOT_OURS, READERS, SAMPLE_SECRETS } from './readers.ts'
import {
  type Container,
  containersOf,
  environmentOf,
  K8S_FOLDER,
  type Manifest,
  render,
  workloads,
} from './rendered.ts'
import { schemaChecker } from './schemas.ts'

const MOUNT = '/run/secrets/backstop-tls'
const document = readFileSync(new URL('../../docs/tls.md', import.meta.url), 'utf8')

const folder = mkdtempSync(join(tmpdir(), 'backstop-tls-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let manifests: Manifest[]
beforeAll(async () => {
  const overlay = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [relative(folder, join(K8S_FOLDER, 'overlays/production'))],
    components: [relative(folder, join(K8S_FOLDER, 'components/tls'))],
  }
  writeFileSync(join(folder, 'kustomization.yaml'), stringify(overlay))
  const authority = createCertificateAuthority('authority').cert
  for (const name of ['kafka-ca.pem', 'mongo-ca.pem', 'registry-ca.pem']) writeFileSync(join(folder, name), authority)
  for (const name of ['kafka', 'registry']) {
    writeFileSync(join(folder, `${name}-username`), 'backstop')
    writeFileSync(join(folder, `${name}-password`), 'password')
  }
  for (const [name, value] of Object.entries(SAMPLE_SECRETS)) writeFileSync(join(folder, name), value)
  manifests = await render(folder)
})

const component = ({ metadata }: Manifest) => metadata.labels?.['app.kubernetes.io/component'] ?? ''
/** Every program that connects to the dependencies, by its name in READERS. */
const programs = () =>
  workloads(manifests)
    .filter(workload => component(workload) !== 'network-policy-check')
    .flatMap(workload =>
      containersOf(workload).map(container => ({
        name: container.name === 'main' ? component(workload) : container.name,
        workload,
        container,
      })),
    )

const environmentIn = (container: Container) =>
  Object.fromEntries(
    Object.entries(environmentOf(manifests, container)).map(([name, value]) => [
      name,
      value.startsWith('/run/secrets/') ? join(folder, basename(value)) : value,
    ]),
  )

test('every program mounts the Secret and starts with its files', () => {
  expect(programs()).toHaveLength(9)
  for (const { name, workload, container } of programs()) {
    expect(container.volumeMounts, name).toContainEqual({ name: 'tls', mountPath: MOUNT, readOnly: true })
    const volume = workload.spec.template.spec.volumes.at(-1)
    expect(volume, name).toEqual({ name: 'tls', secret: { secretName: 'backstop-tls', defaultMode: 0o440 } })
    const environment = { ...environmentIn(container), SCHEMA_REGISTRY_URL: 'https://registry:8081' }
    expect(READERS[name]?.read(environment), name).toMatchObject({ KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512' })
    const unknown = (container.env ?? [])
      .map(variable => variable.name.replace(/_FILE$/, ''))
      .filter(variable => !NOT_OURS.has(variable) && !READERS[name]?.names.includes(variable))
    expect(unknown, name).toEqual([])
  }
})

test('every credential setting of a program is in the component', () => {
  const isCredential = (name: string) =>
    /^(?:KAFKA|MONGO|SCHEMA_REGISTRY)_(?:TLS|CA|CERT|KEY|SASL_\w+|USERNAME|PASSWORD)$/.test(name)
  for (const { name, container } of programs()) {
    const given = Object.keys(environmentIn(container)).map(variable => variable.replace(/_FILE$/, ''))
    expect(READERS[name]?.names.filter(setting => isCredential(setting) && !given.includes(setting))).toEqual([])
  }
})

test('the files of the settings are those that docs/tls.md puts into the Secret', () => {
  const settings = readFileSync(join(K8S_FOLDER, 'components/tls/settings.env'), 'utf8')
  const used = [...settings.matchAll(/^\w+=\/run\/secrets\/backstop-tls\/(.+)$/gm)].map(([, file]) => file)
  const created = [...document.matchAll(/--from-file=([\w.-]+)/g)].map(([, file]) => file)
  expect(used.length).toBeGreaterThan(5)
  expect(used.filter(file => !created.includes(file))).toEqual([])
})

test('every object matches the schema of its kind', async () => {
  const check = await schemaChecker(34)
  expect(manifests.flatMap(check)).toEqual([])
})
