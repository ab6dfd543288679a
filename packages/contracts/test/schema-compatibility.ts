import type { JsonSchema } from '../src/messages/json-schema.ts'

/**
 * Lists why a newer schema might refuse data of an older one, one line per reason. Empty if it accepts all older data (BACKWARD). The
 * check knows the keywords that `registrySchema` uses. The registry has the final say; a test compares its verdicts with these.
 */
export function incompatibilities(older: JsonSchema, newer: JsonSchema, path = '$'): string[] {
  const olds = alternativesOf(older)
  const news = alternativesOf(newer)
  if (olds.length === 1 && news.length === 1) return compareAlternatives(olds[0]!, news[0]!, path)
  return olds.flatMap((old, index) => {
    const reasons = news.map(candidate => compareAlternatives(old, candidate, path))
    if (reasons.some(list => list.length === 0)) return []
    // Reports the differences from the most similar alternative.
    const nearest = reasons.reduce((best, list) => (list.length < best.length ? list : best))
    return [`${path}: alternative ${index + 1} of ${olds.length} has no successor (${nearest.join('; ')})`]
  })
}

/** The alternatives that a schema allows: the members of a union, or one schema for each type in a list of types. */
function alternativesOf(schema: JsonSchema): JsonSchema[] {
  const union = (schema.oneOf ?? schema.anyOf) as JsonSchema[] | undefined
  if (union !== undefined) return union.flatMap(alternativesOf)
  if (Array.isArray(schema.type)) return schema.type.flatMap(type => alternativesOf({ ...schema, type }))
  return [schema]
}

function compareAlternatives(older: JsonSchema, newer: JsonSchema, path: string): string[] {
  const values = compareValues(older, newer, path)
  if (values !== undefined) return values
  if (newer.type === undefined) return []
  const widens = older.type === 'integer' && newer.type === 'number'
  if (older.type !== newer.type && !widens) return [`${path}: ${older.type ?? 'anything'} became ${newer.type}`]
  return [
    ...compareLimits(older, newer, path),
    ...compareObjects(older, newer, path),
    ...compareItems(older, newer, path),
  ]
}

/** Compares enumerations and constants. Undefined if the newer schema lists no values. */
function compareValues(older: JsonSchema, newer: JsonSchema, path: string): string[] | undefined {
  const allowed = valuesOf(newer)
  if (allowed === undefined) return undefined
  const had = valuesOf(older)
  if (had === undefined) return [`${path}: only certain values are allowed now`]
  const removed = had.filter(value => !allowed.includes(value))
  return removed.length === 0
    ? []
    : [`${path}: no longer allows ${removed.map(value => JSON.stringify(value)).join(', ')}`]
}

function valuesOf(schema: JsonSchema): unknown[] | undefined {
  if (schema.const !== undefined) return [schema.const]
  return schema.enum as unknown[] | undefined
}

const LOWER_LIMITS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'] as const
const UPPER_LIMITS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'] as const
const UNCHANGEABLE_KEYWORDS = ['pattern', 'format'] as const

function compareLimits(older: JsonSchema, newer: JsonSchema, path: string): string[] {
  const narrower = (keyword: string, outside: (old: number, now: number) => boolean) => {
    const [old, now] = [older[keyword] as number | undefined, newer[keyword] as number | undefined]
    return now !== undefined && (old === undefined || outside(old, now)) ? [`${path}: ${keyword} is now ${now}`] : []
  }
  return [
    ...LOWER_LIMITS.flatMap(keyword => narrower(keyword, (old, now) => now > old)),
    ...UPPER_LIMITS.flatMap(keyword => narrower(keyword, (old, now) => now < old)),
    ...UNCHANGEABLE_KEYWORDS.flatMap(keyword =>
      newer[keyword] !== undefined && newer[keyword] !== older[keyword] ? [`${path}: ${keyword} was changed`] : [],
    ),
  ]
}

function compareObjects(older: JsonSchema, newer: JsonSchema, path: string): string[] {
  if (newer.type !== 'object') return []
  const had = (older.properties ?? {}) as Record<string, JsonSchema>
  const has = (newer.properties ?? {}) as Record<string, JsonSchema>
  const wasRequired = new Set(older.required as string[] | undefined)
  const added = ((newer.required ?? []) as string[]).filter(name => !wasRequired.has(name))
  return [
    ...added.map(name => `${path}.${name}: is required now`),
    ...Object.entries(had).flatMap(([name, schema]) => {
      const rest = has[name] ?? unnamedPropertySchema(newer)
      return rest === undefined
        ? [`${path}.${name}: is no longer allowed`]
        : incompatibilities(schema, rest, `${path}.${name}`)
    }),
    ...compareUnnamedProperties(
      older,
      newer,
      Object.keys(has).filter(name => had[name] === undefined),
      path,
    ),
  ]
}

/** The schema of properties that an object schema does not name; undefined for a closed object. */
function unnamedPropertySchema(schema: JsonSchema): JsonSchema | undefined {
  if (schema.additionalProperties === false) return undefined
  return (schema.additionalProperties ?? {}) as JsonSchema
}

/** In an open object, an older writer may have stored any value under a name that the newer schema defines. */
function compareUnnamedProperties(
  older: JsonSchema,
  newer: JsonSchema,
  added: readonly string[],
  path: string,
): string[] {
  const had = unnamedPropertySchema(older)
  if (had === undefined) return []
  const has = unnamedPropertySchema(newer)
  if (has === undefined) return [`${path}: was open and is closed now`]
  const taken = added.map(name => `${path}.${name}: may have held anything, since the object is open`)
  return [...taken, ...incompatibilities(had, has, `${path}.*`)]
}

function compareItems(older: JsonSchema, newer: JsonSchema, path: string): string[] {
  if (newer.type !== 'array' || newer.items === undefined) return []
  return incompatibilities((older.items ?? {}) as JsonSchema, newer.items as JsonSchema, `${path}[]`)
}
