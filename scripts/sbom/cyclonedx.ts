import { createHash } from 'node:crypto'
import type { BaseImage } from '../images/base-images.ts'
import type { Installed } from './lock-file.ts'

export interface SbomOf {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly packages: readonly Installed[]
  readonly images: readonly BaseImage[]
}

/**
 * A CycloneDX 1.5 document. The same input gives the same bytes: it contains no time, and its serial number is derived from its
 * content.
 */
export function toCycloneDx({ name, version, license, packages, images }: SbomOf): Record<string, unknown> {
  const refs = new Map(packages.map(one => [one.path, refOf(one)]))
  const root = `${name}@${version}`
  const content = {
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'pre-build' }],
      component: { 'bom-ref': root, type: 'application', name, version, licenses: licensesOf(license) },
    },
    components: [...images.map(imageComponent), ...packages.map(packageComponent)],
    dependencies: [
      {
        ref: root,
        dependsOn: [
          ...images.map(({ argument }) => argument),
          ...packages.filter(({ path }) => !path.includes('node_modules/')).map(one => refs.get(one.path)),
        ],
      },
      ...images.map(({ argument }) => ({ ref: argument, dependsOn: [] })),
      ...packages.map(({ path, dependsOn }) => ({
        ref: refs.get(path),
        dependsOn: dependsOn.map(at => refs.get(at)),
      })),
    ],
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}`,
    ...content,
  }
}

/** The reference of a package in the document. It is unique even if two versions or copies of the package are installed. */
function refOf({ path, name, version }: Installed): string {
  return path.lastIndexOf('node_modules/') > 0 ? `${name}@${version} (${path})` : `${name}@${version}`
}

function packageComponent(installed: Installed): Record<string, unknown> {
  const { name, version, locked } = installed
  return {
    'bom-ref': refOf(installed),
    type: 'library',
    name,
    version,
    scope: locked.optional === true ? 'optional' : 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(locked.integrity === undefined ? {} : { hashes: locked.integrity.split(' ').map(hashOf) }),
    ...(locked.license === undefined ? {} : { licenses: licensesOf(locked.license) }),
  }
}

function imageComponent({ argument, name, tag, digest }: BaseImage): Record<string, unknown> {
  const version = digest ?? tag
  return {
    'bom-ref': argument,
    type: 'container',
    name: `${name}:${tag}`,
    version,
    purl: `pkg:docker/${name}@${encodeURIComponent(version)}`,
  }
}

const ALGORITHMS: Readonly<Record<string, string>> = {
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
}

/** The hash of a package from npm's integrity field: `sha512-` and base64. */
function hashOf(integrity: string): { alg: string; content: string } {
  const [algorithm = '', base64 = ''] = integrity.split(/-(.*)/)
  const alg = ALGORITHMS[algorithm]
  if (alg === undefined) throw new Error(`An integrity of package-lock.json is of an unknown kind: ${algorithm}`)
  return { alg, content: Buffer.from(base64, 'base64').toString('hex') }
}

function licensesOf(license: string): readonly Record<string, unknown>[] {
  if (/^[A-Za-z0-9.+-]+$/.test(license)) return [{ license: { id: license } }]
  return / (?:OR|AND|WITH) /.test(license) ? [{ expression: license }] : [{ license: { name: license } }]
}

/** A UUID of version 8 (RFC 9562 §5.8), derived from a hash. */
function uuidOf(content: string): string {
  const bytes = createHash('sha256').update(content).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
