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
  const stages = new Set([...dockerfile.matchAll(/^FROM \S+ AS (\S+)$/gim)].map(([, stage]) => stage))
  const pinned = new Set(images.filter(({ digest }) => digest !== null).map(({ argument }) => `\${${argument}}`))
  return [...dockerfile.matchAll(/^FROM (?:--\S+ )*(\S+)|^COPY .*--from=(\S+)/gim)]
    .map(([, from, copied]) => from ?? copied ?? '')
    .filter(source => !stages.has(source) && !pinned.has(source) && !/@sha256:[0-9a-f]{64}$/.test(source))
}
