/** The component for traces, on top of the production overlay. */
import { readConfig } from '@backstop/kit/config'
import { tracingSettings } from '@backstop/kit/tracing'
import { beforeAll, expect, test } from 'vitest'
import { overlayOf } from './component-overlays.ts'
import { containersOf, environmentOf, type Manifest, ofKind, renderOverlay, workloads } from './rendered.ts'

const SERVICES = ['ingress', 'reconciler', 'notifier', 'admin-api']

let manifests: Manifest[]
beforeAll(async () => {
  manifests = await renderOverlay(overlayOf('tracing'))
})

test('every service sends one trace in a hundred to the collector', () => {
  const traced = workloads(manifests).flatMap(workload =>
    containersOf(workload).flatMap(container => {
      const component = workload.metadata.labels?.['app.kubernetes.io/component'] ?? ''
      if (container.name !== 'main' || !SERVICES.includes(component)) return []
      const given = environmentOf(manifests, container)
      expect(readConfig(tracingSettings, given)).toMatchObject({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://opentelemetry-collector.tracing:4318',
        OTEL_TRACES_SAMPLER_ARG: 0.01,
      })
      return [component]
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
