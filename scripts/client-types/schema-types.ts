/** Writes JSON Schemas as TypeScript types. */
import type { Schema } from './api-document.ts'

/** An object with fewer properties is written again: a reference would not be shorter. */
const LEAST_REFERENCED = 3

/** The place of a type in the generated file. */
interface Place {
  readonly indent: string
  /** An expression for the type, such as `Action['why']`. Undefined if there is none. */
  readonly path?: string | undefined
  /** True if the path names more than this object. The objects within it have places nevertheless. */
  readonly isPart?: boolean
}

/**
 * Creates the writer of one file. Write the types into the file in the order of the calls, because a reference names an earlier place.
 * @param named the named schemas. A named schema is referenced by its name, and an object within one that was written before by its place.
 */
export function createTypeWriter(named: Readonly<Record<string, Schema>>) {
  const written = new Map<string, string>()
  return { namedType, typeOf }

  /** The type of a named schema: if it has all properties of another one, that one and the others. */
  function namedType(name: string): string {
    const { properties = {}, required = [], ...rest } = named[name] ?? {}
    const base = largestPartOf(name)
    if (base === undefined) return typeOf(named[name] ?? {}, { indent: '', path: name })
    const own = Object.entries(properties).filter(([key]) => named[base]?.properties?.[key] === undefined)
    if (own.length === 0) return base
    return `${base} & ${objectType({ ...rest, required, properties: Object.fromEntries(own) }, { indent: '', path: name, isPart: true })}`
  }

  function largestPartOf(name: string): string | undefined {
    const others = Object.keys(named).filter(other => isPart(other, name) && !(other > name && isPart(name, other)))
    return others.toSorted((a, b) => sizeOf(named[b]) - sizeOf(named[a]))[0]
  }

  /** Whether a named object has only properties of another one, with the same schemas. */
  function isPart(part: string, whole: string): boolean {
    const properties = Object.entries(named[part]?.properties ?? {})
    return (
      part !== whole &&
      properties.length >= LEAST_REFERENCED &&
      properties.every(
        ([key, schema]) =>
          JSON.stringify(schema) === JSON.stringify(named[whole]?.properties?.[key]) &&
          named[part]?.required?.includes(key) === named[whole]?.required?.includes(key),
      )
    )
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

  function objectType(schema: Schema, { indent, path, isPart = false }: Place): string {
    const { properties = {}, required = [], additionalProperties } = schema
    if (sizeOf(schema) === 0) {
      const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties, { indent }) : 'unknown'
      return `Record<string, ${values}>`
    }
    const key = JSON.stringify([properties, required])
    const before = written.get(key)
    if (before !== undefined) return before
    const inner = `${indent}  `
    const fields = Object.entries(properties).map(([name, field]) => {
      const isRequired = required.includes(name)
      const place = path && placeOf(path, name, field, isRequired)
      const type = typeOf(field, { indent: inner, path: place })
      return `${docOf(field.description, inner)}${inner}${keyOf(name)}${isRequired ? '' : '?'}: ${type}`
    })
    if (path !== undefined && !isPart && fields.length >= LEAST_REFERENCED) written.set(key, path)
    return `{\n${fields.join('\n')}\n${indent}}`
  }
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

function sizeOf(schema: Schema | undefined): number {
  return Object.keys(schema?.properties ?? {}).length
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
