import { createHash } from 'node:crypto'
import { z } from 'zod'
import { MESSAGES, type MessageName } from './messages/index.ts'

/** A JSON Schema, draft-7, as plain JSON. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/**
 * The JSON Schema that the registry holds for a message type: draft-7 (what Confluent-compatible registries compare) and
 * closed, so that BACKWARD_TRANSITIVE lets optional fields be added. A `format` stands without the pattern that zod
 * derives from it: the pattern changes with zod's version, and a changed pattern would be refused as incompatible.
 */
export function registrySchema(name: MessageName): JsonSchema {
  return z.toJSONSchema(MESSAGES[name].schema, {
    target: 'draft-7',
    io: 'output',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
    },
  })
}

/**
 * The registry's subject for the versions of a message type.
 * @param topicPrefix of the installation, so that installations may share a registry as they may share Kafka
 */
export function registrySubject(name: MessageName, topicPrefix: string): string {
  return `${topicPrefix}${name}-value`
}

/** The registered text of a schema. Keys are sorted, so that the same schema is always the same bytes. */
export function schemaText(schema: JsonSchema): string {
  return JSON.stringify(sorted(schema))
}

/** The key of a message type's present schema in the collection `schema_ids`: `<name>/<sha256 of the schema's text>`. */
export function schemaKey(name: MessageName): string {
  const digest = createHash('sha256')
    .update(schemaText(registrySchema(name)))
    .digest('hex')
  return `${name}/${digest}`
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}
