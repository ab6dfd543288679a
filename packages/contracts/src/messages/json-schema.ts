import { createHash } from 'node:crypto'
import { z } from 'zod'
import { MESSAGES, type MessageName } from './index.ts'

/** A JSON Schema, draft-7, as plain JSON. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/**
 * The JSON Schema of a message type for the registry. It is draft-7, which Confluent-compatible registries compare, and closed, so that
 * BACKWARD_TRANSITIVE allows new optional fields. The pattern that zod derives from a `format` is removed, because it changes with zod's
 * version and the registry would refuse a changed pattern as incompatible.
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
 * @param topicPrefix prefix of the installation, so that installations can share a registry and Kafka
 */
export function registrySubject(name: MessageName, topicPrefix: string): string {
  return `${topicPrefix}${name}-value`
}

/** Serializes a schema with sorted keys, so that equal schemas have equal bytes. */
export function schemaText(schema: JsonSchema): string {
  return JSON.stringify(sortKeys(schema))
}

/** The key of a message type's current schema in the collection `schema_ids`: `<name>/<sha256 of the schema's text>`. */
export function schemaKey(name: MessageName): string {
  const digest = createHash('sha256')
    .update(schemaText(registrySchema(name)))
    .digest('hex')
  return `${name}/${digest}`
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]))
}
