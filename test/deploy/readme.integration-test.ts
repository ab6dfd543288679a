import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { PLACEHOLDER } from '../../scripts/release/places.ts'
import { versionComponent } from '../../scripts/release/version.ts'
import { K8S_FOLDER, type Manifest, mainContainer, ofKind, render } from './rendered.ts'

const readme = readFileSync(join(K8S_FOLDER, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', text = '']) =>
  text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
)

const VERSION = '0.2.0-gabc1234'
let folder: string
let manifests: Manifest[]

// One overlay with all examples of the README.
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'backstop-overlay-'))
  const [overlay, ...additions] = blocks.map(block => parse(block))
  overlay.resources = [relative(folder, join(K8S_FOLDER, 'overlays/production'))]
  overlay.components = [relative(folder, join(K8S_FOLDER, 'components/gateway')), 'version']
  mkdirSync(join(folder, 'version'))
  writeFileSync(join(folder, 'version/kustomization.yaml'), versionComponent(VERSION))
  overlay.patches = additions.flatMap(({ patches }) => patches)
  writeFileSync(join(folder, 'kustomization.yaml'), stringify(overlay))
  writeFileSync(join(folder, 'settings.env'), 'KAFKA_BROKERS=broker.acme.example:9094\n')
  manifests = await render(folder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const one = (kind: string, name: string) =>
  ofKind(manifests, kind).find(({ metadata }) => metadata.name.startsWith(name)) as Manifest

test('the README has an overlay and three patches', () => {
  expect(blocks).toHaveLength(4)
})

test('an overlay uses images from your registry, also for init containers', () => {
  const pods = ofKind(manifests, 'Deployment', 'Job').map(({ spec }) => JSON.stringify(spec.template.spec))
  expect(pods).toHaveLength(6)
  for (const pod of pods) {
    expect(pod).toContain('"registry.acme.example/backstop-provision:')
    expect(pod).not.toContain(PLACEHOLDER)
  }
})

test('its settings reach the services and the deploy job', () => {
  expect(one('ConfigMap', 'backstop-settings').data?.KAFKA_BROKERS).toBe('broker.acme.example:9094')
  expect(one('ConfigMap', 'backstop-provision-settings').data?.KAFKA_BROKERS).toBe('broker.acme.example:9094')
  expect(one('ConfigMap', 'backstop-settings').data?.SMTP_FROM).toBeDefined()
})

test('Kafka, registry and MongoDB of a provider become reachable, each in its networks on its ports only', () => {
  const [inCluster, ...managed] = one('NetworkPolicy', 'backstop-allow-dependencies').spec.egress
  expect(JSON.stringify(inCluster)).not.toContain('ipBlock')
  expect(managed).toEqual([
    { to: [{ ipBlock: { cidr: '198.51.100.0/25' } }], ports: [{ protocol: 'TCP', port: 21_835 }] },
    { to: [{ ipBlock: { cidr: '198.51.100.128/25' } }], ports: [{ protocol: 'TCP', port: 443 }] },
    { to: [{ ipBlock: { cidr: '10.9.0.0/24' } }], ports: [{ protocol: 'TCP', port: 1_024, endPort: 65_535 }] },
  ])
})

test('the version with the commit names images, labels and jobs, so that the jobs run again for other code', () => {
  const pods = ofKind(manifests, 'Deployment', 'Job')
  for (const { metadata, spec } of pods) {
    expect(metadata.labels?.['app.kubernetes.io/version']).toBe(VERSION)
    const images = [...JSON.stringify(spec.template.spec).matchAll(/"image":"[^"]*:([^":]+)"/g)].map(([, tag]) => tag)
    expect(images.length).toBeGreaterThan(0)
    expect(new Set(images)).toEqual(new Set([VERSION]))
  }
  const jobs = pods.filter(({ kind }) => kind === 'Job').map(({ metadata }) => metadata.name)
  expect(jobs.sort()).toEqual(['backstop-network-policy-check-0-2-0-gabc1234', 'backstop-provision-0-2-0-gabc1234'])
})

test('a service gets its own MongoDB user, under the file name that it reads', () => {
  const notifier = one('Deployment', 'backstop-notifier')
  const text = JSON.stringify(notifier.spec.template.spec.volumes)
  expect(text).toContain('{"key":"MONGO_URL_NOTIFIER","path":"MONGO_URL"}')
  expect(mainContainer(notifier).env).toContainEqual({
    name: 'MONGO_URL_FILE',
    value: '/run/secrets/backstop/MONGO_URL',
  })
})

test.each(['reconciler', 'notifier', 'admin-api'])('%s uses the egress proxy, and may connect to it', service => {
  const deployment = one('Deployment', `backstop-${service}`)
  const path = '/run/secrets/backstop/EGRESS_PROXY_URL'
  expect(mainContainer(deployment).env).toContainEqual({ name: 'EGRESS_PROXY_URL_FILE', value: path })
  const volume = deployment.spec.template.spec.volumes.find((one: { name: string }) => one.name === 'secrets')
  expect(volume.secret.items).toContainEqual({ key: 'EGRESS_PROXY_URL', path: 'EGRESS_PROXY_URL' })
  expect(one('NetworkPolicy', `backstop-${service}`).spec.egress.at(-1)).toEqual({
    to: [{ ipBlock: { cidr: '10.7.0.9/32' } }],
    ports: [{ protocol: 'TCP', port: 4750 }],
  })
})

test('the gateway sends each host name to its service', () => {
  const routes = ofKind(manifests, 'HTTPRoute').map(({ spec }) => [spec.hostnames, spec.rules[0].backendRefs[0].name])
  expect(routes.sort()).toEqual([
    [['backstop.example.com'], 'backstop-admin-api'],
    [['hooks.example.com'], 'backstop-ingress'],
  ])
})
