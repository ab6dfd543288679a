/** Writes JSON Schemas as TypeScript types. */
import type { Schema } from './api-document.ts'

/** The type of a schema. Named schemas are referenced by name. */
export function typeOf(schema: Schema, indent = ''): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return unionOf(schema.enum.map(value => JSON.stringify(value)))
  const anyOf = schema.anyOf ?? schema.oneOf
  if (anyOf !== undefined) return unionOf(anyOf.map(part => typeOf(part, indent)))
  if (schema.allOf !== undefined) return schema.allOf.map(part => `(${typeOf(part, indent)})`).join(' & ')
  const types = schema.type === undefined ? [] : [schema.type].flat()
  return types.length === 0 ? 'unknown' : unionOf(types.map(type => typeNamed(type, schema, indent)))
}

function typeNamed(type: string, schema: Schema, indent: string): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return arrayOf(typeOf(schema.items ?? {}, indent))
    case 'object':
      return objectType(schema, indent)
    default:
      throw new Error(`The OpenAPI document has a type that this generator does not know: ${type}`)
  }
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) =>
      `${docOf(schema.description, `${indent}  `)}${indent}  ${keyOf(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema, `${indent}  `)}`,
  )
  if (fields.length > 0) return `{\n${fields.join('\n')}\n${indent}}`
  const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown'
  return `Record<string, ${values}>`
}

/** A comment for a declaration; empty without a text. */
export function docOf(text: string | undefined, indent: string): string {
  return text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')} */\n`
}

/** A name as a key of an object type. */
export function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

function arrayOf(item: string): string {
  return / [|&] /.test(item) ? `(${item})[]` : `${item}[]`
}

function unionOf(parts: readonly string[]): string {
  return [...new Set(parts)].join(' | ')
}
