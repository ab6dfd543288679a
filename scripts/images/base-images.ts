/** A base image of the Dockerfile, from a line `ARG …_IMAGE`. */
export interface BaseImage {
  /** The name of the ARG, e.g. `NODE_IMAGE`. */
  readonly argument: string
  /** `node` */
  readonly name: string
  /** `24-bookworm-slim` */
  readonly tag: string
  /** `sha256:…`; null if the line has none. */
  readonly digest: string | null
}

const LINE = /^ARG (\w+_IMAGE)=([^:@\s]+):([^@\s]+)(?:@(sha256:[0-9a-f]{64}))?$/gm

export function baseImagesOf(dockerfile: string): BaseImage[] {
  return [...dockerfile.matchAll(LINE)].map(([, argument = '', name = '', tag = '', digest]) => ({
    argument,
    name,
    tag,
    digest: digest ?? null,
  }))
}

/** The Dockerfile with each base image pinned to the digest that `digestOf` gives for its name and tag. */
export function pinBaseImages(dockerfile: string, digestOf: (reference: string) => string): string {
  return dockerfile.replace(LINE, (_line, argument: string, name: string, tag: string) => {
    const reference = `${name}:${tag}`
    const digest = digestOf(reference)
    if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`${reference} has no usable digest: ${digest}`)
    return `ARG ${argument}=${reference}@${digest}`
  })
}

/** The images of a Dockerfile that have no digest, so that their content may change. */
export function unpinnedImagesOf(dockerfile: string): string[] {
  const images = baseImagesOf(dockerfile)
  const stages = new Set([...dockerfile.matchAll(/^FROM \S+ AS (\S+)$/gim)].map(([, stage]) => stage))
  const pinned = new Set(images.filter(({ digest }) => digest !== null).map(({ argument }) => `\${${argument}}`))
  return [...dockerfile.matchAll(/^FROM (?:--\S+ )*(\S+)|^COPY .*--from=(\S+)/gim)]
    .map(([, from, copied]) => from ?? copied ?? '')
    .filter(source => !stages.has(source) && !pinned.has(source) && !/@sha256:[0-9a-f]{64}$/.test(source))
}
