import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { PLACEHOLDER } from '../../scripts/release/places.ts'
import { BUNDLES, containersOf, K8S_FOLDER, type Manifest, nameOf, ofKind, render, workloads } from './rendered.ts'
import { schemaChecker } from './schemas.ts'

/** The oldest version of Kubernetes that has `preStop.sleep`, and the newest version with published schemas. */
const OLDEST_MINOR = 30
const NEWEST_MINOR = 37

const bundles = new Map<string, Manifest[]>()
beforeAll(async () => {
  for (const bundle of BUNDLES) bundles.set(bundle, await render(bundle))
})
const bundle = (name: string) => bundles.get(name) as Manifest[]

describe.each([{ minor: OLDEST_MINOR }, { minor: NEWEST_MINOR }])('for Kubernetes 1.$minor', ({ minor }) => {
  let check: (manifest: Manifest) => string[]
  beforeAll(async () => {
    check = await schemaChecker(minor)
  })

  test.each(BUNDLES)('every object of %s matches the schema of its kind', name => {
    expect(bundle(name).length).toBeGreaterThan(20)
    expect(bundle(name).flatMap(check)).toEqual([])
  })

  test('a misspelt field is an error', () => {
    const [deployment] = structuredClone(ofKind(bundle('.'), 'Deployment')) as [Manifest]
    const [container] = deployment.spec.template.spec.containers
    container.readynessProbe = container.readinessProbe
    expect(check(deployment)).toEqual([expect.stringMatching(/containers\/0: .*additional.* readynessProbe$/)])
  })

  test('a kind that a plain cluster does not know is an error', () => {
    const route = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata: { name: 'a' }, spec: {} }
    expect(check(route)).toHaveLength(1)
  })
})

test('applies the production overlay if no overlay is named', () => {
  expect(bundle('.')).toEqual(bundle('overlays/production'))
})

test('names no object plain ingress, which is the name of another kind', () => {
  for (const manifests of bundles.values()) {
    expect(manifests.filter(({ metadata }) => metadata.name === 'ingress').map(nameOf)).toEqual([])
    expect(ofKind(manifests, 'Ingress')).toEqual([])
  }
})

test('a pod of production without images of its own says so at once, because their name is none', () => {
  const images = workloads(bundle('overlays/production')).flatMap(workload =>
    containersOf(workload).map(({ image }) => image),
  )
  expect(images.length).toBeGreaterThan(9)
  expect(images.filter(image => !image.startsWith(`${PLACEHOLDER}/`))).toEqual([])
  // The kubelet refuses a name with capital letters as InvalidImageName, and asks no registry, unless they may be those of a host.
  expect(PLACEHOLDER).toMatch(/[A-Z]/)
  expect(PLACEHOLDER).not.toMatch(/^[A-Za-z0-9.-]+$/)
  const read = (path: string) => readFileSync(join(K8S_FOLDER, '../..', path), 'utf8')
  for (const page of ['deploy/k8s/README.md', 'docs/troubleshooting.md']) {
    expect(read(page)).toMatch(new RegExp(`InvalidImageName.*${PLACEHOLDER}`))
  }
})

test('production contains no secret; the local overlay does', () => {
  expect(ofKind(bundle('overlays/production'), 'Secret')).toEqual([])
  expect(ofKind(bundle('overlays/local'), 'Secret').map(nameOf)).toEqual(['Secret/backstop-secrets'])
})

test('every object that another one refers to exists', () => {
  for (const [name, manifests] of bundles) {
    const present = new Set(manifests.map(nameOf))
    const missing = manifests.flatMap(referencesOf).filter(reference => !present.has(reference))
    // Operators create the Secret of production themselves.
    expect([...new Set(missing)]).toEqual(name === 'overlays/local' ? [] : ['Secret/backstop-secrets'])
  }
})

function referencesOf({ kind, spec }: Manifest): string[] {
  if (kind === 'HorizontalPodAutoscaler') return [`${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`]
  const pod = spec?.template?.spec
  if (pod === undefined) return []
  const text = JSON.stringify(pod)
  const named = (pattern: RegExp, wanted: string) => [...text.matchAll(pattern)].map(([, name]) => `${wanted}/${name}`)
  return [
    ...named(/"configMapKeyRef":\{"key":"[^"]+","name":"([^"]+)"/g, 'ConfigMap'),
    ...named(/"configMapRef":\{"name":"([^"]+)"/g, 'ConfigMap'),
    ...named(/"secretName":"([^"]+)"/g, 'Secret'),
    ...named(/"serviceAccountName":"([^"]+)"/g, 'ServiceAccount'),
  ]
}
