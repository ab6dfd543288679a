import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** An image of others, from a line `ARG …_IMAGE` of the Dockerfile or the default of a variable in docker-compose.yml. */
export interface BaseImage {
  /** The name of the variable, e.g. `NODE_IMAGE`. */
  readonly argument: string
  /** `node` */
  readonly name: string
  /** `24-bookworm-slim` */
  readonly tag: string
  /** `sha256:…`; null if the line has none. */
  readonly digest: string | null
}

const LINE = /^(ARG (\w+_IMAGE)=| +image: \$\{(\w+_IMAGE):-)([^:@\s]+):([^@\s}]+)(?:@(sha256:[0-9a-f]{64}))?(\}?)$/gm

export function baseImagesOf(text: string): BaseImage[] {
  return [...text.matchAll(LINE)].map(([, , argument, variable = '', name = '', tag = '', digest]) => ({
    argument: argument ?? variable,
    name,
    tag,
    digest: digest ?? null,
  }))
}

/** The Dockerfile or docker-compose.yml with each of these images pinned to the digest that `digestOf` gives for its name and tag. */
export function pinBaseImages(text: string, digestOf: (reference: string) => string): string {
  return text.replace(LINE, (_line, start: string, _argument, _variable, name: string, tag: string, _digest, end) => {
    const reference = `${name}:${tag}`
    const digest = digestOf(reference)
    if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`${reference} has no usable digest: ${digest}`)
    return `${start}${reference}@${digest}${end}`
  })
}

/** The images of a Dockerfile that have no digest, so that their content may change. */
export function unpinnedImagesOf(dockerfile: string): string[] {
  const images = baseImagesOf(dockerfile)
  const stages = new Set([...dockerfile.matchAll(/^FROM (?:--\S+ )*\S+ AS (\S+)$/gim)].map(([, stage]) => stage))
  const pinned = new Set(images.filter(({ digest }) => digest !== null).map(({ argument }) => `\${${argument}}`))
  return [...dockerfile.matchAll(/^FROM (?:--\S+ )*(\S+)|^COPY .*--from=(\S+)/gim)]
    .map(([, from, copied]) => from ?? copied ?? '')
    .filter(source => !stages.has(source) && !pinned.has(source) && !/@sha256:[0-9a-f]{64}$/.test(source))
}

/**
 * Pins the images of others in the Dockerfile and docker-compose.yml to the digests that their registries have today. Build and test the images
 * before you commit the change, and copy the digests to deploy/k8s/overlays/local.
 */
export function pinImages(): string[] {
  return ['Dockerfile', 'docker-compose.yml'].flatMap(file => {
    const path = join(resolve(import.meta.dirname, '../..'), file)
    const before = readFileSync(path, 'utf8')
    const after = pinBaseImages(before, readDigest)
    writeFileSync(path, after)
    const pinned = baseImagesOf(after).map(({ name, tag, digest }) => `${name}:${tag}  ${digest}`)
    return [...pinned, `${file}: ${before === after ? 'no digest changed' : 'changed'}`]
  })
}

/** Reads the digest of the multi-platform index, so that the same line works for every platform. */
function readDigest(reference: string): string {
  const command = ['buildx', 'imagetools', 'inspect', reference, '--format', '{{.Manifest.Digest}}']
  return execFileSync('docker', command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}
