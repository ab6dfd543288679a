/** The component for traces, on top of the production overlay. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { readConfig, tracingSettings } from '@backstop/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { containersOf, K8S_FOLDER, type Manifest, ofKind, render, workloads } from './rendered.ts'
import { schemaChecker } from './schemas.ts'

const SERVICES = ['ingress', 'reconciler', 'notifier', 'admin-api']

const folder = mkdtempSync(join(tmpdir(), 'backstop-tracing-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let manifests: Manifest[]
beforeAll(async () => {
  const overlay = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [relative(folder, join(K8S_FOLDER, 'overlays/production'))],
    components: [relative(folder, join(K8S_FOLDER, 'components/tracing'))],
  }
  writeFileSync(join(folder, 'kustomization.yaml'), stringify(overlay))
  manifests = await render(folder)
}, 600_000)

test('every service sends one trace in a hundred to the collector', () => {
  const maps = new Map(ofKind(manifests, 'ConfigMap').map(({ metadata, data }) => [metadata.name, data]))
  const traced = workloads(manifests).flatMap(workload =>
    containersOf(workload).flatMap(({ name, env = [] }) => {
      const given = env.flatMap(({ name: variable, valueFrom }) => {
        const { name: map = '', key = '' } = valueFrom?.configMapKeyRef ?? {}
        return variable.startsWith('OTEL_') ? [[variable, maps.get(map)?.[key] ?? '']] : []
      })
      if (given.length === 0) return []
      expect(name).toBe('main')
      expect(readConfig(tracingSettings, Object.fromEntries(given))).toMatchObject({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://opentelemetry-collector.tracing:4318',
        OTEL_TRACES_SAMPLER_ARG: 0.01,
      })
      return [workload.metadata.labels?.['app.kubernetes.io/component']]
    }),
  )
  expect(traced.toSorted()).toEqual(SERVICES.toSorted())
})

test('the network policy allows the port of the collector, in its namespace only', () => {
  const policy = ofKind(manifests, 'NetworkPolicy').find(({ metadata }) => metadata.name === 'backstop-allow-tracing')
  expect(policy?.spec).toEqual({
    podSelector: { matchLabels: { 'app.kubernetes.io/part-of': 'backstop' } },
    policyTypes: ['Egress'],
    egress: [
      {
        to: [{ namespaceSelector: { matchLabels: { 'backstop-tracing': 'allowed' } } }],
        ports: [{ protocol: 'TCP', port: 4318 }],
      },
    ],
  })
})

test('every object matches the schema of its kind', async () => {
  const check = await schemaChecker(34)
  expect(manifests.flatMap(check)).toEqual([])
}, 600_000)
