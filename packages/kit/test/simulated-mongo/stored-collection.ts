import type { Document, Filter } from 'mongodb'
import type { Duplicate } from './errors.ts'
import { equalTo, isComparison } from './filter.ts'
import { FieldIndex, type IndexDefinition, UniqueIndex } from './indexes.ts'
import { keyOf } from './values.ts'

/** The newest documents of one collection, with its indexes. Documents in it never change; a write replaces them. */
export class StoredCollection {
  readonly name: string
  readonly definitions: readonly IndexDefinition[]
  readonly #documents = new Map<string, Document>()
  /** The position in the oplog of the last write of each id. */
  readonly #writtenAt = new Map<string, number>()
  readonly #fields: readonly FieldIndex[]
  readonly #unique: readonly UniqueIndex[]

  constructor(name: string, definitions: readonly IndexDefinition[]) {
    this.name = name
    this.definitions = definitions
    const first = new Set(definitions.map(({ keys }) => Object.keys(keys)[0] ?? ''))
    this.#fields = [...first].map(field => new FieldIndex(field))
    this.#unique = definitions.filter(({ options }) => options?.unique).map(one => new UniqueIndex(one))
  }

  get(id: string): Document | undefined {
    return this.#documents.get(id)
  }

  all(): IterableIterator<Document> {
    return this.#documents.values()
  }

  writtenAt(id: string): number {
    return this.#writtenAt.get(id) ?? 0
  }

  /**
   * The values of the document that a unique index has already, if there are any.
   * @param isReplaced whether the document of an id is about to be replaced or removed, so that its values are free
   */
  duplicateOf(
    id: string,
    document: Document,
    isReplaced: (owner: string) => boolean = () => false,
  ): Duplicate | undefined {
    for (const index of this.#unique) {
      const duplicate = index.duplicateOf(id, document)
      if (duplicate !== undefined && !isReplaced(duplicate.owner)) return duplicate
    }
    return undefined
  }

  /** Stores the document in place of the one before, or removes it. */
  set(id: string, document: Document | undefined, position: number): void {
    const before = this.#documents.get(id)
    for (const index of [...this.#fields, ...this.#unique]) {
      if (before !== undefined) index.remove(id, before)
      if (document !== undefined) index.add(id, document)
    }
    if (document === undefined) this.#documents.delete(id)
    else this.#documents.set(id, document)
    this.#writtenAt.set(id, position)
  }

  /** Documents among which all that match the filter are. */
  candidates(filter: Filter<Document>): Document[] {
    const ids = this.#idsOf(filter)
    if (ids === undefined) return [...this.#documents.values()]
    return [...ids].flatMap(id => this.#documents.get(id) ?? [])
  }

  #idsOf(filter: Filter<Document>): Iterable<string> | undefined {
    const values = equalTo(filter._id)
    if (values !== undefined) return new Set(values.map(keyOf))
    let best: Set<string> | undefined
    for (const index of this.#fields) {
      const found = candidatesOf(index, filter[index.field])
      if (found !== undefined && (best === undefined || found.size < best.size)) best = found
    }
    return best
  }
}

function candidatesOf(index: FieldIndex, condition: unknown): Set<string> | undefined {
  const values = equalTo(condition)
  if (values !== undefined) return values.includes(null) ? undefined : index.withValues(values)
  return isComparison(condition) ? index.withAnyValue() : undefined
}
