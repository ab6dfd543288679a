/**
 * Reduces objects that were read to the fields that are used. Objects of providers have addresses, phone numbers and more, and Kafka
 * keeps every reading for days.
 */
import type { ReadObject } from '@backstop/contracts'
import type { z } from 'zod'

/** The used fields of an object: true for a whole value, or the used fields inside it. The name `*` is for all other fields. */
export interface UsedFields {
  readonly [name: string]: true | UsedFields
}

/** The used fields of each type of object. */
export type UsedFieldsOfTypes = Readonly<Record<string, UsedFields>>

/** The fields of a schema, with their whole values. */
export function fieldsOf(schema: z.ZodObject): UsedFields {
  return fields(...Object.keys(schema.shape))
}

export function fields(...names: readonly string[]): UsedFields {
  return Object.fromEntries(names.map(name => [name, true]))
}

/** The object with only its used fields. An unusable object is kept whole, because people examine it. */
export function withUsedFields(object: ReadObject, used: UsedFieldsOfTypes): ReadObject {
  const wanted = used[object.type]
  if (wanted === undefined || object.fault !== undefined) return object
  return { ...object, body: pickFrom(object.body, wanted) as ReadObject['body'] }
}

/** A value that is not an object is kept, e.g. the id of an object that was not expanded. */
function pickFrom(value: unknown, used: UsedFields): unknown {
  if (Array.isArray(value)) return value.map(item => pickFrom(item, used))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).flatMap(([name, field]) => {
    const inside = (Object.hasOwn(used, name) ? used[name] : undefined) ?? used['*']
    if (inside === undefined) return []
    return [[name, inside === true ? field : pickFrom(field, inside)] as const]
  })
  return Object.fromEntries(kept)
}
