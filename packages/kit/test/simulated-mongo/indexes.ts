import type { Document } from 'mongodb'
import { keysAt } from './bson-order.ts'
import type { Duplicate } from './errors.ts'
import { matcherOf } from './filter.ts'
import { keyOf, valuesAt } from './values.ts'

/** The definition of an index, as in `COLLECTIONS` of @backstop/contracts. */
export interface IndexDefinition {
  readonly keys: Readonly<Record<string, unknown>>
  readonly options?: {
    readonly unique?: boolean
    readonly sparse?: boolean
    readonly partialFilterExpression?: Readonly<Document>
    readonly expireAfterSeconds?: number
  }
}

/** An index by the first field of a definition, which finds the documents that a filter may match. */
export class FieldIndex {
  readonly field: string
  readonly #path: readonly string[]
  readonly #ids = new Map<string, { readonly value: unknown; readonly ids: Set<string> }>()

  constructor(field: string) {
    this.field = field
    this.#path = field.split('.')
  }

  add(id: string, document: Document): void {
    for (const value of valuesAt(document, this.#path)) {
      const key = keyOf(value)
      const entry = this.#ids.get(key)
      if (entry === undefined) this.#ids.set(key, { value, ids: new Set([id]) })
      else entry.ids.add(id)
    }
  }

  remove(id: string, document: Document): void {
    for (const value of valuesAt(document, this.#path)) {
      const key = keyOf(value)
      const entry = this.#ids.get(key)
      if (entry?.ids.delete(id) && entry.ids.size === 0) this.#ids.delete(key)
    }
  }

  /** The ids of documents with one of the values. */
  withValues(values: readonly unknown[]): Set<string> {
    const found = new Set<string>()
    for (const value of values) for (const id of this.#ids.get(keyOf(value))?.ids ?? []) found.add(id)
    return found
  }

  /** The ids of documents with any value that is not null, for comparisons, which never match a missing field. */
  withAnyValue(): Set<string> {
    const found = new Set<string>()
    for (const { value, ids } of this.#ids.values()) if (value !== null) for (const id of ids) found.add(id)
    return found
  }
}

/** A unique index. Refuses a second document with the same values. */
export class UniqueIndex {
  readonly #name: string
  readonly #fields: Readonly<Record<string, unknown>>
  readonly #paths: readonly (readonly string[])[]
  readonly #applies: (document: Document) => boolean
  readonly #owners = new Map<string, string>()

  constructor({ keys, options = {} }: IndexDefinition) {
    this.#fields = keys
    this.#name = Object.entries(keys)
      .map(([field, order]) => `${field}_${order}`)
      .join('_')
    this.#paths = Object.keys(keys).map(field => field.split('.'))
    const isIncluded = matcherOf(options.partialFilterExpression ?? {})
    this.#applies = document =>
      isIncluded(document) && (options.sparse !== true || this.#paths.some(path => valuesAt(document, path).length > 0))
  }

  /** The values that another document has already, if there is one. */
  duplicateOf(id: string, document: Document): Duplicate | undefined {
    for (const [key, values] of this.#entries(document)) {
      const owner = this.#owners.get(key)
      if (owner === undefined || owner === id) continue
      const keyValue = Object.fromEntries(Object.keys(this.#fields).map((field, at) => [field, values[at]]))
      return { index: this.#name, keyPattern: this.#fields, keyValue, owner }
    }
    return undefined
  }

  add(id: string, document: Document): void {
    for (const [key] of this.#entries(document)) this.#owners.set(key, id)
  }

  remove(id: string, document: Document): void {
    for (const [key] of this.#entries(document)) if (this.#owners.get(key) === id) this.#owners.delete(key)
  }

  /** One key for each combination of values. A missing field counts as null, an empty array as undefined. */
  #entries(document: Document): Map<string, readonly unknown[]> {
    if (!this.#applies(document)) return new Map()
    let combinations: unknown[][] = [[]]
    for (const path of this.#paths) {
      const values = keysAt(document, path)
      combinations = combinations.flatMap(before => values.map(value => [...before, value]))
    }
    return new Map(combinations.map(values => [values.map(indexKey).join('|'), values]))
  }
}

function indexKey(value: unknown): string {
  return value === undefined ? 'undefined' : keyOf(value)
}
