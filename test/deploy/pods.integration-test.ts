import { beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import {
  BUNDLES,
  containersOf,
  type Manifest,
  mainContainer,
  nameOf,
  ofBackstop,
  ofKind,
  render,
  workloads,
} from './rendered.ts'

const SERVICES = ['admin-api', 'ingress', 'notifier', 'reconciler']
/**
 * The jobs of a bundle. The local overlay has no network-policy check, because it allows the connections that the check forbids.
 */
const jobsOf = (bundle: string) => (bundle === 'overlays/local' ? ['provision'] : ['network-policy-check', 'provision'])

/** The longest time in seconds in which a service finishes its work (packages/kit/src/service/run-service.ts). */
const STOP_DEADLINE_S = 25

const bundles = new Map<string, Manifest[]>()
beforeAll(async () => {
  for (const bundle of BUNDLES) bundles.set(bundle, await render(bundle))
})

describe.each(BUNDLES)('in %s', bundle => {
  const all = () => bundles.get(bundle) as Manifest[]
  const ours = () => ofBackstop(all())
  const deployments = () => ofKind(ours(), 'Deployment')
  const podOf = (workload: Manifest) => workload.spec.template.spec

  test('there is a deployment for every service, the deploy job, and the network-policy check', () => {
    expect(deployments().map(nameOf).sort()).toEqual(SERVICES.map(service => `Deployment/backstop-${service}`))
    // Each version has its own job, because the template of an existing job cannot change.
    const suffix = packageJson.version.replaceAll('.', '-')
    expect(ofKind(ours(), 'Job').map(nameOf)).toEqual(jobsOf(bundle).map(job => `Job/backstop-${job}-${suffix}`))
    expect(workloads(ours())).toHaveLength(SERVICES.length + jobsOf(bundle).length)
  })

  test('every pod meets the restricted standard and has no token of the cluster', () => {
    for (const workload of workloads(all())) {
      const pod = podOf(workload)
      expect(pod.securityContext, nameOf(workload)).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(pod.securityContext.runAsUser).toBeGreaterThan(0)
      expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false })
      for (const container of containersOf(workload)) {
        expect(container.securityContext, `${nameOf(workload)} ${container.name}`).toMatchObject({
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
        })
      }
    }
    for (const { metadata } of ofKind(all(), 'Namespace')) {
      for (const mode of ['enforce', 'audit', 'warn']) {
        expect(metadata.labels?.[`pod-security.kubernetes.io/${mode}`]).toBe('restricted')
      }
    }
  })

  test('our pods run as 65532 with a read-only root, a small /tmp and their secrets', () => {
    for (const workload of workloads(ours())) {
      expect(podOf(workload).securityContext).toMatchObject({ runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532 })
      for (const container of containersOf(workload)) {
        expect(container.securityContext.readOnlyRootFilesystem, `${nameOf(workload)} ${container.name}`).toBe(true)
      }
      for (const volume of podOf(workload).volumes) {
        if (volume.secret === undefined) expect(volume.emptyDir.sizeLimit).toBe('64Mi')
        else expect(volume.secret).toMatchObject({ secretName: 'backstop-secrets', defaultMode: 0o440 })
      }
    }
  })

  test('every workload has its own service account, without a token', () => {
    const accounts = ofKind(ours(), 'ServiceAccount')
    expect(accounts.map(({ automountServiceAccountToken }) => automountServiceAccountToken)).toEqual(
      Array(SERVICES.length + jobsOf(bundle).length).fill(false),
    )
    const used = workloads(ours()).map(workload => podOf(workload).serviceAccountName)
    expect(used.sort()).toEqual(accounts.map(({ metadata }) => metadata.name).sort())
  })

  test('every container requests CPU and memory and limits memory only, and the heap of Node is well below the limit', () => {
    for (const workload of workloads(all())) {
      for (const container of containersOf(workload)) {
        const what = `${nameOf(workload)} ${container.name}`
        expect(Object.keys(container.resources.requests).sort(), what).toEqual(['cpu', 'memory'])
        expect(Object.keys(container.resources.limits), what).toEqual(['memory'])
      }
    }
    for (const container of workloads(ours()).flatMap(containersOf)) {
      const heap = container.env?.find(({ name }) => name === 'NODE_OPTIONS')?.value
      const limitMi = Number.parseInt(container.resources.limits.memory, 10)
      expect(heap).toBe(`--max-old-space-size=${limitMi * 0.75}`)
    }
  })

  test('every image is pinned, ours to this version', () => {
    const { version } = packageJson
    for (const { image } of workloads(all()).flatMap(containersOf)) {
      expect(image).toMatch(/:[0-9][^:]*$/)
      expect(image).not.toMatch(/latest/)
    }
    for (const workload of workloads(ours())) {
      const component = workload.metadata.labels?.['app.kubernetes.io/component']
      const image = component === 'network-policy-check' ? 'provision' : component
      expect(mainContainer(workload).image).toMatch(new RegExp(`(^|/)backstop-${image}:${version}$`))
      expect(workload.metadata.labels).toMatchObject({
        'app.kubernetes.io/name': `backstop-${component}`,
        'app.kubernetes.io/part-of': 'backstop',
        'app.kubernetes.io/version': version,
      })
    }
  })

  test('every service has startup, readiness and liveness probes on the ops port', () => {
    for (const deployment of deployments()) {
      const { startupProbe, readinessProbe, livenessProbe, ports } = mainContainer(deployment)
      expect(startupProbe.httpGet).toEqual({ path: '/healthz', port: 'ops' })
      expect(livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'ops' })
      expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'ops' })
      expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBe(60)
      // A rebalance may take a minute and must not restart the pod.
      expect(livenessProbe.periodSeconds * livenessProbe.failureThreshold).toBeGreaterThanOrEqual(60)
      expect(ports).toContainEqual(expect.objectContaining({ name: 'ops', containerPort: 9090 }))
    }
  })

  test('pods behind a Service drain before they stop, and all pods have time to finish', () => {
    const served = new Set(ofKind(ours(), 'Service').map(({ spec }) => spec.selector['app.kubernetes.io/name']))
    expect([...served].sort()).toEqual(['backstop-admin-api', 'backstop-ingress'])
    for (const deployment of deployments()) {
      const drainS = mainContainer(deployment).lifecycle?.preStop.sleep.seconds ?? 0
      expect(drainS).toBe(served.has(deployment.metadata.name) ? 10 : 0)
      expect(podOf(deployment).terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drainS + STOP_DEADLINE_S + 20)
      expect(deployment.spec.strategy.rollingUpdate).toEqual(
        served.has(deployment.metadata.name) ? { maxUnavailable: 0, maxSurge: 1 } : { maxUnavailable: 1, maxSurge: 0 },
      )
    }
  })

  test('the pods of a service are spread by zone and node, separately for each version', () => {
    for (const deployment of deployments()) {
      const spread = podOf(deployment).topologySpreadConstraints
      expect(spread.map(({ topologyKey }: { topologyKey: string }) => topologyKey)).toEqual([
        'topology.kubernetes.io/zone',
        'kubernetes.io/hostname',
      ])
      for (const constraint of spread) {
        expect(constraint).toMatchObject({
          maxSkew: 1,
          whenUnsatisfiable: 'ScheduleAnyway',
          matchLabelKeys: ['app.kubernetes.io/name', 'pod-template-hash'],
        })
        const wanted = Object.entries(constraint.labelSelector.matchLabels)
        expect(Object.entries(deployment.spec.template.metadata.labels)).toEqual(expect.arrayContaining(wanted))
      }
    }
  })

  test('a node can be drained: one pod of a service at a time, and an unhealthy pod does not block it', () => {
    const budgets = ofKind(ours(), 'PodDisruptionBudget')
    expect(budgets.map(({ metadata }) => metadata.name).sort()).toEqual(SERVICES.map(service => `backstop-${service}`))
    for (const { metadata, spec } of budgets) {
      expect(spec).toEqual({
        maxUnavailable: 1,
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
        selector: { matchLabels: { 'app.kubernetes.io/name': metadata.name } },
      })
    }
  })

  test('the deploy job can be applied again at any time, and services wait for it', () => {
    // The template of a job cannot change, so settings that may change within a version are not in it.
    const job = ofKind(ours(), 'Job').find(({ metadata }) => metadata.name.startsWith('backstop-provision')) as Manifest
    expect(job.spec).toMatchObject({ ttlSecondsAfterFinished: 600, backoffLimit: 100 })
    const template = JSON.stringify(job.spec.template)
    expect([...template.matchAll(/"name":"(backstop-[a-z-]*settings[^"]*)"/g)].map(([, name]) => name)).toEqual(
      Array(2).fill('backstop-provision-settings'),
    )
    for (const deployment of deployments()) {
      const [wait, ...others] = podOf(deployment).initContainers
      expect(others).toEqual([])
      expect(wait.command).toEqual(['node', 'packages/provision/src/wait-main.ts'])
      expect(wait.image).toBe(mainContainer(job).image)
    }
  })
})

test('the network-policy check keeps its verdict for a day, has no secret, and tries pods that are ready', () => {
  const manifests = bundles.get('overlays/production') as Manifest[]
  const named = (kind: string, name: string) =>
    ofKind(manifests, kind).find(({ metadata }) => metadata.name.startsWith(name)) as Manifest
  const { spec } = named('Job', 'backstop-network-policy-check')
  expect(spec).toMatchObject({ ttlSecondsAfterFinished: 86_400, template: { spec: { restartPolicy: 'Never' } } })
  expect(spec.template.spec.volumes).toEqual([{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }])
  expect(mainContainer(named('Job', 'backstop-network-policy-check')).command).toEqual([
    'node',
    'packages/provision/src/network-policy-main.ts',
  ])
  // A headless Service without unready pods, so that DNS returns only pods that accept connections.
  expect(named('Service', 'backstop-network-policy-check').spec).toEqual({
    clusterIP: 'None',
    selector: { 'app.kubernetes.io/name': 'backstop-admin-api' },
    ports: [{ name: 'ops', port: 9090, targetPort: 'ops' }],
  })
})

test('production runs at least three pods of ingress, and applying again does not change their number', () => {
  const manifests = bundles.get('overlays/production') as Manifest[]
  const [autoscaler] = ofKind(manifests, 'HorizontalPodAutoscaler') as [Manifest]
  expect(autoscaler.spec).toMatchObject({ minReplicas: 3, scaleTargetRef: { name: 'backstop-ingress' } })
  for (const deployment of ofKind(manifests, 'Deployment')) {
    expect(deployment.spec.replicas).toBe(deployment.metadata.name === 'backstop-ingress' ? undefined : 2)
  }
})

test('the local overlay runs one pod of each service', () => {
  const manifests = bundles.get('overlays/local') as Manifest[]
  expect(ofKind(manifests, 'HorizontalPodAutoscaler')).toEqual([])
  expect(ofKind(manifests, 'Deployment', 'StatefulSet').map(({ spec }) => spec.replicas)).toEqual(Array(8).fill(1))
})
