/** Renders the manifests by kubectl, and reads objects and containers from the result. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseAllDocuments, stringify } from 'yaml'
import { ensureKubectl } from './kubernetes-tools.ts'

/** The fields of a Kubernetes object that the tests read. */
export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> }
  // biome-ignore lint/suspicious/noExplicitAny: the fields depend on the kind
  spec?: any
  data?: Record<string, string>
  automountServiceAccountToken?: boolean
}

/** A container of a rendered pod, init containers included. */
export interface Container {
  name: string
  image: string
  command?: string[]
  env?: {
    name: string
    value?: string
    valueFrom?: {
      configMapKeyRef?: { name: string; key: string; optional?: boolean }
      secretKeyRef?: { name: string; key: string }
    }
  }[]
  envFrom?: { prefix?: string; configMapRef: { name: string } }[]
  // biome-ignore lint/suspicious/noExplicitAny: read field by field
  [field: string]: any
}

export const K8S_FOLDER = fileURLToPath(new URL('../../deploy/k8s/', import.meta.url))

/** The folders that `kubectl apply -k` is documented for. */
export const BUNDLES = ['.', 'overlays/production', 'overlays/local'] as const

/** The objects of `kubectl apply -k`. @param folder relative to deploy/k8s, or absolute */
export async function render(folder: string): Promise<Manifest[]> {
  const kubectl = await ensureKubectl()
  const { stdout, stderr } = await promisify(execFile)(kubectl, ['kustomize', folder], {
    cwd: K8S_FOLDER,
    maxBuffer: 16 * 1024 * 1024,
  })
  if (stderr !== '') throw new Error(`kubectl warns about ${folder}: ${stderr}`)
  return parseAllDocuments(stdout).map(document => document.toJS() as Manifest)
}

/** The objects of an operator's own overlay: `resources` and `components` are relative to deploy/k8s. */
export async function renderOverlay(overlay: {
  namespace?: string
  resources?: readonly string[]
  components?: readonly string[]
  /** Lines of the overlay's own settings.env. */
  settings?: Readonly<Record<string, string>>
}): Promise<Manifest[]> {
  const folder = mkdtempSync(join(tmpdir(), 'backstop-overlay-'))
  const from = (path: string) => relative(folder, join(K8S_FOLDER, path))
  try {
    const { settings, ...rest } = overlay
    const literals = Object.entries(settings ?? {}).map(([name, value]) => `${name}=${value}`)
    const text = stringify({
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      ...rest,
      resources: (overlay.resources ?? []).map(from),
      components: (overlay.components ?? []).map(from),
      configMapGenerator: ['backstop-settings', 'backstop-provision-settings'].flatMap(name =>
        settings === undefined ? [] : { name, behavior: 'merge', literals },
      ),
    })
    writeFileSync(join(folder, 'kustomization.yaml'), text)
    return await render(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const nameOf = ({ kind, metadata }: Manifest) => `${kind}/${metadata.name}`

export function ofKind(manifests: readonly Manifest[], ...kinds: string[]): Manifest[] {
  return manifests.filter(({ kind }) => kinds.includes(kind))
}

/** The objects of Backstop, without the dependencies of the local overlay. */
export function ofBackstop(manifests: readonly Manifest[]): Manifest[] {
  return manifests.filter(({ metadata }) => metadata.namespace === 'backstop')
}

/** The objects that create pods. */
export function workloads(manifests: readonly Manifest[]): Manifest[] {
  return ofKind(manifests, 'Deployment', 'Job', 'StatefulSet')
}

export function containersOf(workload: Manifest): Container[] {
  const { initContainers = [], containers } = workload.spec.template.spec
  return [...initContainers, ...containers]
}

/**
 * The environment of a container, as the kubelet makes it: the lines of its ConfigMaps, and before these its own variables.
 * @throws Error if a variable refers to what is not there
 */
export function environmentOf(manifests: readonly Manifest[], { env = [], envFrom = [] }: Container) {
  const maps = new Map(ofKind(manifests, 'ConfigMap').map(({ metadata, data }) => [metadata.name, data]))
  const environment: Record<string, string> = {}
  for (const { prefix = '', configMapRef } of envFrom) {
    const map = maps.get(configMapRef.name)
    if (map === undefined) throw new Error(`there is no ConfigMap ${configMapRef.name}`)
    for (const [name, value] of Object.entries(map)) environment[prefix + name] = value
  }
  for (const { name, value, valueFrom } of env) {
    const reference = valueFrom?.configMapKeyRef
    const given = reference === undefined ? value : maps.get(reference.name)?.[reference.key]
    if (given !== undefined) environment[name] = given
    else if (!reference?.optional) throw new Error(`${name} refers to what is not there: ${JSON.stringify(valueFrom)}`)
  }
  return environment
}

export function mainContainer(workload: Manifest): Container {
  const main = workload.spec.template.spec.containers.find(({ name }: Container) => name === 'main')
  if (main === undefined) throw new Error(`${nameOf(workload)} has no container named main`)
  return main
}
