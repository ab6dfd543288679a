/**
 * A condition with the type of its value. An index with the partial filter `{ $type: … }` has few of many documents, and MongoDB (8.0) uses it
 * only for a query that names the type: without it, a query for one text reads all documents.
 * @param condition operators that compare a field with `values`, e.g. `{ $eq: 'pi_1' }`
 */
export function withTypeOf<C extends object>(condition: C, values: readonly unknown[]): C & { $type?: TypeName } {
  const [type, ...others] = new Set(values.map(value => typeof value))
  const isIndexed = others.length === 0 && (type === 'string' || type === 'number')
  return isIndexed ? { ...condition, $type: type } : condition
}

type TypeName = 'string' | 'number'

/** A condition for one text, with its type. */
export function equalText(value: string): { $eq: string; $type: 'string' } {
  return { $eq: value, $type: 'string' }
}
