import type { z } from 'zod'

/** A value as the API shows it: its dates are texts in ISO 8601. */
type Shown<Value> = Value extends Date
  ? string
  : Value extends readonly (infer Item)[]
    ? Shown<Item>[]
    : Value extends object
      ? { [Field in keyof Value]: Shown<Value[Field]> }
      : Value

/** The fields of the answer that the document has in the same form, apart from dates. */
type SameFields<Answer, Document> = {
  [Field in keyof Answer]-?: Field extends keyof Document
    ? Shown<Document[Field]> extends Answer[Field]
      ? Field
      : never
    : never
}[keyof Answer]

/**
 * A document as the API shows it: the fields of the schema, with dates in ISO 8601. A field that the schema does not have, such as a secret,
 * is left out.
 * @param more the fields that the document does not have, or has in another form
 */
export function showDocument<S extends z.ZodObject, D extends object>(
  { shape }: S,
  document: D,
  more: Omit<z.output<S>, SameFields<z.output<S>, D>> & Partial<z.output<S>>,
): z.output<S> {
  const own = Object.entries(document).filter(([field]) => field in shape)
  return { ...Object.fromEntries(own.map(([field, value]) => [field, showDates(value)])), ...more } as z.output<S>
}

function showDates(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(showDates)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, showDates(inner)]))
}
