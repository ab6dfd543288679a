import { createHash } from 'node:crypto'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'

/** One file of a Maven repository, pinned by its hash. */
export interface Artifact {
  group: string
  artifact: string
  version: string
  packaging: string
  /** Empty for the main file. */
  classifier: string
  bytes: number
  /** Hex digits. */
  sha256: string
}

export type ArtifactState = { kind: 'whole' } | { kind: 'missing' } | { kind: 'broken'; reason: string }

/** The file name in a Maven repository and in our folders. */
export function artifactFileName({ artifact, version, classifier, packaging }: Artifact): string {
  return `${artifact}-${version}${classifier ? `-${classifier}` : ''}.${packaging}`
}

/** The path below the root of a Maven repository. */
export function artifactPath(artifact: Artifact): string {
  return [...artifact.group.split('.'), artifact.artifact, artifact.version, artifactFileName(artifact)].join('/')
}

/**
 * Compares a file with its pinned size and hash. The size is checked first, because an incomplete download is the most
 * common fault.
 */
export async function inspectArtifact(
  path: string,
  pinned: Pick<Artifact, 'bytes' | 'sha256'>,
): Promise<ArtifactState> {
  if (!existsSync(path)) return { kind: 'missing' }
  const { size } = statSync(path)
  if (size !== pinned.bytes) return { kind: 'broken', reason: `${size} bytes instead of ${pinned.bytes}` }
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  const sha256 = hash.digest('hex')
  return sha256 === pinned.sha256
    ? { kind: 'whole' }
    : { kind: 'broken', reason: `sha256 ${sha256} instead of ${pinned.sha256}` }
}
