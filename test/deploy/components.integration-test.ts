/** The components on top of the production overlay: one at a time, and all that fit together. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProgramRights, RIGHTS, TOPICS } from '@backstop/contracts'
import { wantedTopics } from '@backstop/provision'
import { beforeAll, describe, expect, test } from 'vitest'
import { CONSUMERS } from '../../packages/cli/src/doctor/read-infrastructure.ts'
import { COMPONENT_OVERLAYS, overlayOf, STRIMZI } from './component-overlays.ts'
import { K8S_FOLDER, type Manifest, nameOf, ofKind, render, renderOverlay } from './rendered.ts'
import { customResourceChecker, schemaChecker } from './schemas.ts'

const names = Object.keys(COMPONENT_OVERLAYS)

const rendered = new Map<string, Manifest[]>()
let production: Manifest[]
let strimzi: Manifest[]
let checkPlain: (manifest: Manifest) => string[]
const checkCustom = customResourceChecker()
beforeAll(async () => {
  checkPlain = await schemaChecker(34)
  production = await render('overlays/production')
  for (const name of names) rendered.set(name, await renderOverlay(overlayOf(name)))
  strimzi = await renderOverlay(STRIMZI)
})

const of = (name: string) => rendered.get(name) as Manifest[]
/** The objects that a component adds to the production overlay. */
const added = (name: string) => {
  const present = new Set(production.map(nameOf))
  return of(name).filter(manifest => !present.has(nameOf(manifest)) && manifest.kind !== 'ConfigMap')
}
const one = (name: string, object: string) => of(name).find(manifest => nameOf(manifest) === object) as Manifest
const isCustom = ({ apiVersion }: Manifest) =>
  apiVersion.includes('.') && (!apiVersion.includes('.k8s.io/') || apiVersion.startsWith('gateway.'))

test('every component is tested, and in the table of the README', () => {
  const components = readdirSync(join(K8S_FOLDER, 'components'))
  expect([...names.filter(name => name !== 'all'), 'strimzi'].sort()).toEqual(components.sort())
  const readme = readFileSync(join(K8S_FOLDER, 'README.md'), 'utf8')
  expect(components.filter(component => !readme.includes(`| \`components/${component}\` |`))).toEqual([])
})

describe.each(names)('with %s', name => {
  test('every object matches the schema of its kind', () => {
    expect(of(name).flatMap(manifest => (isCustom(manifest) ? checkCustom(manifest) : checkPlain(manifest)))).toEqual(
      [],
    )
  })

  test('every object is in the namespace of the services, and none is named plain ingress', () => {
    for (const manifest of of(name)) {
      if (manifest.kind !== 'Namespace') expect(manifest.metadata.namespace, nameOf(manifest)).toBe('backstop')
      expect(manifest.metadata.name).not.toBe('ingress')
    }
  })

  test('contains no secret', () => {
    expect(ofKind(of(name), 'Secret')).toEqual([])
  })
})

/** The components that set variables or mount files in the pods. */
const CHANGE_PODS = ['tls', 'tracing']

test.each(names.filter(name => !COMPONENT_OVERLAYS[name]?.some(component => CHANGE_PODS.includes(component))))(
  '%s changes no pod, so adding it rolls none',
  name => {
    const templates = (manifests: Manifest[]) => ofKind(manifests, 'Deployment', 'Job').map(({ spec }) => spec.template)
    expect(templates(of(name))).toEqual(templates(production))
  },
)

test('a field that the operator does not know is an error', () => {
  const scaled = structuredClone(one('keda', 'ScaledObject/backstop-notifier'))
  scaled.spec.maxReplicas = 3
  expect(checkCustom(scaled)).toEqual([
    'ScaledObject/backstop-notifier/spec: must NOT have additional properties maxReplicas',
  ])
  const topic = structuredClone(strimzi[0] as Manifest)
  topic.spec.partition = topic.spec.partitions
  expect(checkCustom(topic)).toHaveLength(1)
})

describe.each(['keda', 'hpa'])('%s', name => {
  const scalers = () => added(name).filter(({ kind }) => kind === 'ScaledObject' || kind === 'HorizontalPodAutoscaler')
  const isKeda = name === 'keda'

  test('sets the number of pods of the services that it scales, and applying again does not change it', () => {
    const scaled = scalers().map(({ spec }) => spec.scaleTargetRef.name)
    expect(scaled.sort()).toEqual(
      (isKeda ? [] : ['backstop-admin-api']).concat('backstop-notifier', 'backstop-reconciler'),
    )
    for (const { metadata, spec } of ofKind(of(name), 'Deployment')) {
      const isAutoscaled = [...scaled, 'backstop-ingress'].includes(metadata.name)
      expect(spec.replicas, metadata.name).toBe(isAutoscaled ? undefined : 2)
    }
  })

  test('runs two pods or more, no more than there are partitions, and removes them slowly', () => {
    for (const { metadata, spec } of scalers()) {
      const [least, most] = isKeda ? [spec.minReplicaCount, spec.maxReplicaCount] : [spec.minReplicas, spec.maxReplicas]
      expect(least, metadata.name).toBe(2)
      expect(most).toBeLessThanOrEqual(TOPICS['inbound.processor'].partitions)
      const { behavior } = isKeda ? spec.advanced.horizontalPodAutoscalerConfig : spec
      expect(behavior.scaleDown.stabilizationWindowSeconds).toBe(300)
    }
  })
})

test('KEDA reads the lag of groups and topics that exist, from the first message on', () => {
  const triggers = ofKind(of('keda'), 'ScaledObject').flatMap(({ spec }) => spec.triggers)
  expect(triggers).toHaveLength(6)
  for (const { type, metadata } of triggers) {
    expect(type).toBe('kafka')
    expect(CONSUMERS[metadata.consumerGroup]).toContain(metadata.topic)
    expect(metadata).toMatchObject({ bootstrapServersFromEnv: 'KAFKA_BROKERS', offsetResetPolicy: 'earliest' })
    // A group without a committed offset must be scaled, and a message that cannot be read stays visible as lag.
    expect(metadata).toMatchObject({ allowIdleConsumers: 'false', excludePersistentLag: 'false' })
  }
})

test('KEDA uses the login of the services with TLS', () => {
  const [authentication] = ofKind(of('keda-tls'), 'TriggerAuthentication') as [Manifest]
  const settings = readFileSync(join(K8S_FOLDER, 'components/tls/settings.env'), 'utf8')
  for (const { name, key } of authentication.spec.secretTargetRef) {
    expect(name).toBe('backstop-tls')
    expect(settings).toContain(`/run/secrets/backstop-tls/${key}`)
  }
  for (const { authenticationRef, metadata } of ofKind(of('keda-tls'), 'ScaledObject').flatMap(
    ({ spec }) => spec.triggers,
  )) {
    expect(authenticationRef).toEqual({ name: authentication.metadata.name })
    expect(metadata).toMatchObject({ tls: 'enable', sasl: 'scram_sha512' })
  }
})

test('Prometheus scrapes the second port of every service, with the label service of the product', () => {
  const { spec } = one('prometheus', 'Service/backstop-metrics')
  expect(spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true })
  for (const { spec: deployment } of ofKind(of('prometheus'), 'Deployment')) {
    expect(Object.entries(deployment.template.metadata.labels)).toEqual(
      expect.arrayContaining(Object.entries(spec.selector)),
    )
    const [main] = deployment.template.spec.containers
    expect(main.ports).toContainEqual({ name: spec.ports[0].targetPort, containerPort: spec.ports[0].port })
  }
  const monitor = one('prometheus', 'ServiceMonitor/backstop')
  const labels = one('prometheus', 'Service/backstop-metrics').metadata.labels ?? {}
  expect(Object.entries(labels)).toEqual(expect.arrayContaining(Object.entries(monitor.spec.selector.matchLabels)))
  expect(monitor.spec.endpoints[0]).toMatchObject({ port: spec.ports[0].name, honorLabels: true })
})

test('External Secrets creates the Secret with the keys of the example', () => {
  const { spec } = one('external-secrets', 'ExternalSecret/backstop-secrets')
  const example = readFileSync(join(K8S_FOLDER, 'overlays/production/secrets.example.env'), 'utf8')
  const keys = [...example.matchAll(/^([A-Z_]+)=/gm)].map(([, key]) => key)
  expect(spec.data.map(({ secretKey }: { secretKey: string }) => secretKey)).toEqual(keys)
  expect(spec.target.name).toBe('backstop-secrets')
})

test('certificates, hosts and Secrets of cert-manager and of the kind Ingress agree with the routes of the gateway', () => {
  const certificates = ofKind(of('cert-manager'), 'Certificate').map(({ spec }) => [spec.secretName, spec.dnsNames])
  const hosts = ofKind(of('ingress'), 'Ingress').map(({ spec }) => [spec.tls[0].secretName, spec.tls[0].hosts])
  expect(certificates).toHaveLength(2)
  expect(hosts).toEqual(certificates)
  const targets = (kind: string, name: string, read: (spec: Manifest['spec']) => [string, string]) =>
    ofKind(of(name), kind).map(({ spec }) => read(spec))
  const routes = targets('HTTPRoute', 'gateway', spec => [spec.hostnames[0], spec.rules[0].backendRefs[0].name])
  const rules = targets('Ingress', 'ingress', ({ rules: [{ host, http }] }) => [
    host,
    http.paths[0].backend.service.name,
  ])
  expect(rules).toEqual(routes)
})

describe('strimzi', () => {
  test('every object matches the schema of its kind, and is in the namespace of Kafka', () => {
    expect(strimzi.flatMap(checkCustom)).toEqual([])
    expect(new Set(strimzi.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['kafka']))
  })

  test('has every topic as the deploy job wants it', () => {
    const topics = ofKind(strimzi, 'KafkaTopic').map(({ metadata, spec }) => ({
      name: metadata.name,
      partitions: spec.partitions,
      replication: spec.replicas,
      config: Object.fromEntries(Object.entries(spec.config).map(([key, value]) => [key, String(value)])),
    }))
    const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
    expect(topics.sort(byName)).toEqual(wantedTopics('', { replication: 3, minInsync: 2 }).sort(byName))
  })

  test('has a user for each program, whose consumer groups and topics are its own', () => {
    const users = ofKind(strimzi, 'KafkaUser').map(({ metadata }) => metadata.name)
    expect(users.sort()).toEqual(
      Object.keys(RIGHTS)
        .map(program => `backstop-${program}`)
        .sort(),
    )
    const programs: readonly ProgramRights[] = Object.values(RIGHTS)
    for (const [group, topics] of Object.entries(CONSUMERS)) {
      const rights = programs.find(({ kafka: { groups } }) => groups !== undefined && group.startsWith(groups))
      expect(rights?.kafka.reads, group).toEqual(expect.arrayContaining([...topics]))
    }
  })
})
