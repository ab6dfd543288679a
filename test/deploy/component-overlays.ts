/** Overlays with the components of deploy/k8s: each one alone, and all that fit together. */

const PRODUCTION = { namespace: 'backstop', resources: ['overlays/production'] }

/** The components for the namespace of the services, each with those that it needs. */
export const COMPONENT_OVERLAYS: Readonly<Record<string, readonly string[]>> = {
  gateway: ['gateway'],
  tls: ['tls'],
  keda: ['keda'],
  'keda-tls': ['keda', 'tls', 'keda-tls'],
  hpa: ['hpa'],
  prometheus: ['prometheus'],
  'external-secrets': ['external-secrets'],
  'cert-manager': ['cert-manager'],
  ingress: ['ingress'],
  tracing: ['tracing'],
  all: ['gateway', 'tls', 'keda', 'keda-tls', 'prometheus', 'external-secrets', 'cert-manager', 'ingress', 'tracing'],
}

export const overlayOf = (name: string) => ({
  ...PRODUCTION,
  components: (COMPONENT_OVERLAYS[name] ?? []).map(component => `components/${component}`),
})

/** The overlay for the namespace of Kafka. */
export const STRIMZI = { namespace: 'kafka', components: ['components/strimzi'] }
