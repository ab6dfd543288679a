import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MessageName } from '../src/messages/index.ts'
import type { JsonSchema } from '../src/messages/json-schema.ts'

/** Where the schema and the samples of each release lie: `schemas/<release>/<message>.json`, `samples/<release>/<message>/<title>.json`. */
export const CONTRACTS_FOLDER = join(import.meta.dirname, '..')
/** The folder of samples that may change, because no release has written them yet. */
export const NEXT = 'next'

/** A release embeds the alert in a delivery request. On file its schema is there once. */
export const ALERT_REFERENCE = { $ref: 'alert.json' }

/** The releases whose messages this version reads, in ascending order. */
export function releases(folder = CONTRACTS_FOLDER): string[] {
  return readdirSync(join(folder, 'schemas')).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
}

/** The last release before this version, which is a release itself or the next one in development. */
export function releaseBefore(folder = CONTRACTS_FOLDER): string {
  const { version } = JSON.parse(readFileSync(join(CONTRACTS_FOLDER, 'package.json'), 'utf8')) as { version: string }
  const before = releases(folder).filter(release => release.localeCompare(version, 'en', { numeric: true }) < 0)
  return before.at(-1) ?? ''
}

/** The schema of a message at a release; undefined if the release had no such message. */
export function releasedSchema(release: string, name: MessageName, folder = CONTRACTS_FOLDER): JsonSchema | undefined {
  const read = (file: string): JsonSchema => JSON.parse(readFileSync(join(folder, 'schemas', release, file), 'utf8'))
  if (!existsSync(join(folder, 'schemas', release, `${name}.json`))) return undefined
  const schema = read(`${name}.json`)
  const properties = schema.properties as Record<string, JsonSchema> | undefined
  if (properties?.alert?.$ref !== ALERT_REFERENCE.$ref) return schema
  const { $schema: _, ...alert } = read(ALERT_REFERENCE.$ref)
  return { ...schema, properties: { ...properties, alert } }
}

export interface Sample {
  /** The release that wrote it, or `next`. */
  readonly release: string
  /** The file name without its extension, such as `refund-created`. */
  readonly title: string
  /** The message as the current code reads it. */
  readonly message: unknown
  /** The bytes of the message in Kafka; undefined until a release has written it. */
  readonly bytes: Buffer | undefined
}

export function samples(name: MessageName, folder = CONTRACTS_FOLDER): Sample[] {
  const root = join(folder, 'samples')
  return readdirSync(root).flatMap(release => {
    const path = join(root, release, name)
    if (!existsSync(path)) return []
    const titles = readdirSync(path).flatMap(file => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : []))
    return titles.map(title => {
      const file = join(path, title)
      const bytes = existsSync(`${file}.bin`) ? readFileSync(`${file}.bin`) : undefined
      return { release, title, message: JSON.parse(readFileSync(`${file}.json`, 'utf8')), bytes }
    })
  })
}
