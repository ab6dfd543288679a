import fc from 'fast-check'

export type Schema = Readonly<Record<string, unknown>>

/** Values that often find mistakes. */
const ODD = fc.constantFrom<unknown>('', ' ', '\u0000', '\u202e', '__proto__', '$ne', 0, -1, 1e21, null, [], {}, true)

/**
 * Generates values of a JSON Schema, and now and then another value.
 * @param known values by the name of their field, such as ids of resources that exist
 */
export function valuesOf(
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
  known: Readonly<Record<string, unknown>>,
  field = '',
): fc.Arbitrary<unknown> {
  const sound = soundValuesOf(schema, schemas, known, field)
  const own = field in known ? [{ weight: 20, arbitrary: fc.constant(known[field]) }] : []
  return fc.oneof({ weight: 12, arbitrary: sound }, { weight: 1, arbitrary: ODD }, ...own)
}

function soundValuesOf(
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
  known: Readonly<Record<string, unknown>>,
  field: string,
): fc.Arbitrary<unknown> {
  const { $ref: reference } = schema
  if (typeof reference === 'string') {
    return soundValuesOf(schemas[reference.split('/').at(-1) ?? ''] ?? {}, schemas, known, field)
  }
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  const choices = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined
  if (choices !== undefined) {
    return fc.oneof(...choices.map(choice => soundValuesOf(choice, schemas, known, field)))
  }
  switch (schema.type) {
    case 'object':
      return objectsOf(schema, schemas, known)
    case 'array':
      return fc.array(valuesOf((schema.items ?? {}) as Schema, schemas, known, field.replace(/s$/, '')), {
        minLength: 1,
        maxLength: 3,
      })
    case 'string':
      return textsOf(schema)
    case 'integer':
      return fc.integer({ min: bound(schema.minimum, 0), max: bound(schema.maximum, 1_000_000) })
    case 'number':
      return fc.double({ min: bound(schema.minimum, 0), max: bound(schema.maximum, 1_000) })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

/** fc.integer accepts 32 bits. */
function bound(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Math.abs(value) < 2 ** 31 ? value : otherwise
}

function objectsOf(
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
  known: Readonly<Record<string, unknown>>,
): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  const model = Object.fromEntries(properties.map(([name, inner]) => [name, valuesOf(inner, schemas, known, name)]))
  return fc.record(model, { requiredKeys: (schema.required ?? []) as string[] })
}

function textsOf({ format, pattern, minLength, maxLength }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time') {
    const range = { min: new Date('2020-01-01'), max: new Date('2035-01-01'), noInvalidDate: true }
    return fc.date(range).map(date => date.toISOString())
  }
  if (format === 'email') return fc.emailAddress()
  if (format === 'uri') return fc.webUrl({ validSchemes: ['https'] })
  const any = fc.string({
    unit: 'grapheme',
    minLength: bound(minLength, 0),
    maxLength: Math.min(bound(maxLength, 40), 80),
  })
  if (typeof pattern !== 'string') return any
  try {
    return fc.oneof(fc.stringMatching(new RegExp(pattern)), any)
  } catch {
    // fast-check does not know every class of characters.
    return any
  }
}
