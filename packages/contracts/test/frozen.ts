import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonSchema } from '../src/json-schema.ts'
import type { MessageName } from '../src/messages/index.ts'

/** The folder with every registered version of each message schema: `<message>.v<number>.json`. */
export const SCHEMAS_FOLDER = join(import.meta.dirname, '../schemas')
/**
 * The folder with messages as earlier versions wrote them, in a folder for each type: `v<number>-<title>.json`, and their bytes as
 * `.bin`.
 */
export const SAMPLES_FOLDER = join(import.meta.dirname, '../samples')

export interface SchemaVersion {
  readonly version: number
  readonly schema: JsonSchema
}

export function schemaVersions(name: MessageName): SchemaVersion[] {
  return readdirSync(SCHEMAS_FOLDER)
    .flatMap(file => {
      const version = new RegExp(`^${name}\\.v(\\d+)\\.json$`).exec(file)?.[1]
      if (version === undefined) return []
      return [{ version: Number(version), schema: JSON.parse(readFileSync(join(SCHEMAS_FOLDER, file), 'utf8')) }]
    })
    .sort((a, b) => a.version - b.version)
}

export interface Sample {
  /** The file name without its extension, such as `v1-refund-created`. */
  readonly title: string
  /** The message as the current code reads it. */
  readonly message: unknown
  /** The bytes of the message in Kafka; undefined if the sample is not frozen yet. */
  readonly bytes: Buffer | undefined
}

export function samples(name: MessageName): Sample[] {
  const folder = join(SAMPLES_FOLDER, name)
  const files = readdirSync(folder)
  return files
    .filter(file => file.endsWith('.json'))
    .map(file => {
      const title = file.replace(/\.json$/, '')
      const frozen = files.includes(`${title}.bin`)
      return {
        title,
        message: JSON.parse(readFileSync(join(folder, file), 'utf8')),
        bytes: frozen ? readFileSync(join(folder, `${title}.bin`)) : undefined,
      }
    })
}
