/** Writes JSON Schemas as TypeScript types. */
import type { Schema } from './api-document.ts'

/** An object with fewer properties is written again: a reference would not be shorter. */
const LEAST_REFERENCED = 3
/** Characters of an object type on one line. */
const LONGEST_LINE = 90
/** An object without a name is written as a named object and more only if that one has as many properties: fewer may be chance. */
const LEAST_EXTENDED = 6

/** The place of a type in the generated file. */
interface Place {
  readonly indent: string
  /** An expression for the type, such as `Action['why']`. Undefined if there is none. */
  readonly path?: string | undefined
}

/**
 * Creates the writer of one file. Write the types into the file in the order of the calls, because a reference names an earlier place.
 * @param named the named schemas. A named schema is referenced by its name, and an object within one that was written before by its place.
 */
export function createTypeWriter(named: Readonly<Record<string, Schema>>) {
  const written = new Map<string, string>()
  return { namedType, typeOf }

  function namedType(name: string): string {
    return typeOf(named[name] ?? {}, { indent: '', path: name })
  }

  /** The largest named object that is a part of this one. Of named twins, the first stands for itself. */
  function largestPartOf(whole: Schema, path: string | undefined): string | undefined {
    const least = path !== undefined && path in named ? LEAST_REFERENCED : LEAST_EXTENDED
    const parts = Object.entries(named).filter(
      ([name, part]) =>
        name !== path &&
        sizeOf(part) >= least &&
        isPart(part, whole) &&
        !(path !== undefined && path < name && isPart(whole, part)),
    )
    return parts.toSorted(([, a], [, b]) => sizeOf(b) - sizeOf(a))[0]?.[0]
  }

  function typeOf(schema: Schema, { indent, path }: Place = { indent: '' }): string {
    if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
    if (schema.const !== undefined) return JSON.stringify(schema.const)
    if (schema.enum !== undefined) return unionOf(schema.enum.map(value => JSON.stringify(value)))
    const anyOf = schema.anyOf ?? schema.oneOf
    if (anyOf !== undefined) {
      const isOne = anyOf.filter(({ type }) => type !== 'null').length === 1
      return unionOf(anyOf.map(part => typeOf(part, { indent, path: isOne ? path : undefined })))
    }
    if (schema.allOf !== undefined) return schema.allOf.map(part => `(${typeOf(part, { indent })})`).join(' & ')
    const types = schema.type === undefined ? [] : [schema.type].flat()
    const own = types.filter(type => type !== 'null').length === 1 ? path : undefined
    return types.length === 0 ? 'unknown' : unionOf(types.map(type => typeNamed(type, schema, { indent, path: own })))
  }

  function typeNamed(type: string, schema: Schema, { indent, path }: Place): string {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
        return type
      case 'integer':
      case 'number':
        return 'number'
      case 'array':
        return arrayOf(typeOf(schema.items ?? {}, { indent, path: path && placeOfItem(path, schema.items) }))
      case 'object':
        return objectType(schema, { indent, path })
      default:
        throw new Error(`The OpenAPI document has a type that this generator does not know: ${type}`)
    }
  }

  function objectType(schema: Schema, { indent, path }: Place): string {
    const { properties = {}, required = [], additionalProperties } = schema
    if (sizeOf(schema) === 0) {
      const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties, { indent }) : 'unknown'
      return `Record<string, ${values}>`
    }
    const key = JSON.stringify([properties, required])
    const before = written.get(key)
    if (before !== undefined) return before
    const base = largestPartOf(schema, path)
    const own = Object.entries(properties).filter(([name]) => base === undefined || !isSame(name, named[base], schema))
    if (base !== undefined && own.length === 0) return base
    const inner = `${indent}  `
    const fields = own.map(([name, field]) => {
      const isRequired = required.includes(name)
      const place = path && placeOf(path, name, field, isRequired)
      const type = typeOf(field, { indent: inner, path: place })
      return `${docOf(field.description, inner)}${inner}${keyOf(name)}${isRequired ? '' : '?'}: ${type}`
    })
    if (path !== undefined && sizeOf(schema) >= LEAST_REFERENCED) written.set(key, path)
    return `${base === undefined ? '' : `${base} & `}${inBraces(fields, indent)}`
  }
}

/** Whether an object has only properties of another one, with the same schemas or wider ones. */
function isPart(part: Schema, whole: Schema): boolean {
  return Object.keys(part.properties ?? {}).every(key => isSame(key, part, whole) || isNarrower(key, part, whole))
}

function isSame(key: string, a: Schema = {}, b: Schema = {}): boolean {
  return (
    JSON.stringify(a.properties?.[key]) === JSON.stringify(b.properties?.[key]) &&
    a.required?.includes(key) === b.required?.includes(key)
  )
}

/** Whether the property, which may be absent or null in the part, is always a value in the whole: the intersection is the value then. */
function isNarrower(key: string, part: Schema, whole: Schema): boolean {
  const { description: _, ...value } = whole.properties?.[key] ?? {}
  const { description: _wide, ...wide } = part.properties?.[key] ?? {}
  const isValue = (schema: Schema) => JSON.stringify(schema) === JSON.stringify(value)
  return whole.required?.includes(key) === true && (isValue(wide) || wide.anyOf?.some(isValue) === true)
}

function isNullable(schema: Schema): boolean {
  return [schema, ...(schema.anyOf ?? schema.oneOf ?? [])].some(({ type }) => [type].flat().includes('null'))
}

function placeOfItem(path: string, items: Schema = {}): string {
  return isNullable(items) ? `NonNullable<${path}[number]>` : `${path}[number]`
}

function placeOf(path: string, name: string, schema: Schema, isRequired: boolean): string {
  const place = `${path}[${JSON.stringify(name)}]`
  return isRequired && !isNullable(schema) ? place : `NonNullable<${place}>`
}

function sizeOf({ properties = {} }: Schema): number {
  return Object.keys(properties).length
}

/** The fields of an object type on one line, if they have no comments and are short; otherwise on a line each. */
export function inBraces(fields: readonly string[], indent: string): string {
  const line = `{ ${fields.map(field => field.trim()).join('; ')} }`
  const isShort = line.length <= LONGEST_LINE && !line.includes('\n')
  return isShort ? line : `{\n${fields.join('\n')}\n${indent}}`
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
  if (item.endsWith('[number]') && !/ [|&] /.test(item)) return item.slice(0, -'[number]'.length)
  return / [|&] /.test(item) ? `(${item})[]` : `${item}[]`
}

function unionOf(parts: readonly string[]): string {
  return [...new Set(parts)].join(' | ')
}
