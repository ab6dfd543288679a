/**
 * `node scripts/custom-resources.ts <definition.yaml> …` writes the schemas with which test/deploy checks the objects of operators, from
 * the CustomResourceDefinitions of these operators: without descriptions, and refusing unknown fields.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'

type Schema = { [key: string]: unknown }
interface Definition {
  spec: {
    group: string
    names: { kind: string }
    versions: { name: string; storage: boolean; schema: { openAPIV3Schema: Schema } }[]
  }
}

const FOLDER = new URL('../test/deploy/custom-resources/', import.meta.url)

for (const path of process.argv.slice(2)) {
  for (const document of parseAllDocuments(readFileSync(path, 'utf8'))) {
    const { spec } = document.toJS() as Definition
    for (const { name, storage, schema } of spec.versions) {
      if (!storage) continue
      const file = `${spec.names.kind}.${spec.group}.${name}.json`.toLowerCase()
      const { status: _, ...properties } = schema.openAPIV3Schema.properties as Schema
      const strict = closed({ ...schema.openAPIV3Schema, properties: { ...properties, metadata: undefined } }) as Schema
      Object.assign(strict.properties as Schema, { metadata: { type: 'object' } })
      writeFileSync(new URL(file, FOLDER), `${JSON.stringify(strict)}\n`)
      process.stdout.write(`${file}\n`)
    }
  }
}

/** The schema without texts for people, and with an end to the fields of each object. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const { description, ...kept } = node as Schema
  const result = Object.fromEntries(Object.entries(kept).map(([key, value]) => [key, closed(value)]))
  // A property may be named `description`: then its value is a schema.
  if (typeof description === 'object') result.description = closed(description)
  // A flag of Go's regular expressions, which JavaScript does not know.
  if (typeof result.pattern === 'string' && result.pattern.includes('(?i)')) delete result.pattern
  const isOpen = result['x-kubernetes-preserve-unknown-fields'] === true || result.additionalProperties !== undefined
  if (result.type === 'object' && result.properties !== undefined && !isOpen) result.additionalProperties = false
  return result
}
