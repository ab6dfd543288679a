import type { Document } from 'mongodb'
import type { Duplicate } from './errors.ts'
import type { MongoServer, View } from './server.ts'
import type { StoredCollection } from './stored-collection.ts'
import { copy, keyOf } from './values.ts'

/** A transaction that must run again: another writer changed a document that it writes, or an election ended it. */
export class WriteConflict extends Error {
  override readonly name = 'WriteConflict'
}

interface OwnWrite {
  readonly after: Document | undefined
  readonly isReplacement: boolean
}

/**
 * A transaction: it reads everything as of its first command, and its writes become visible together. It conflicts with every write of others
 * since then to a document that it writes.
 */
export class TransactionView implements View {
  readonly #server: MongoServer
  readonly #term: number
  #begin: number | undefined
  readonly #changes = new Map<StoredCollection, Map<string, OwnWrite>>()

  constructor(server: MongoServer) {
    this.#server = server
    this.#term = server.term
  }

  get(collection: StoredCollection, id: string): Document | undefined {
    const own = this.#changes.get(collection)?.get(id)
    if (own !== undefined) return own.after
    return this.#isNewer(collection, id) ? this.#earlier(collection).get(id) : collection.get(id)
  }

  candidates(collection: StoredCollection, filter: Document): Document[] {
    const earlier = this.#earlier(collection)
    const own = this.#changes.get(collection) ?? new Map<string, OwnWrite>()
    const unchanged = collection
      .candidates(filter)
      .filter(({ _id }) => !earlier.has(keyOf(_id)) && !own.has(keyOf(_id)))
    const before = [...earlier].flatMap(([id, document]) => (own.has(id) ? [] : (document ?? [])))
    return [...unchanged, ...before, ...[...own.values()].flatMap(({ after }) => after ?? [])]
  }

  readable(collection: StoredCollection, filter: Document): Document[] {
    return this.candidates(collection, filter)
  }

  put(collection: StoredCollection, id: string, after: Document | undefined, isReplacement = false): void {
    if (this.#isNewer(collection, id)) throw new WriteConflict()
    const own = this.#changes.get(collection) ?? new Map<string, OwnWrite>()
    this.#changes.set(collection, own.set(id, { after, isReplacement }))
  }

  duplicateOf(collection: StoredCollection, id: string, document: Document): Duplicate | undefined {
    const own = this.#changes.get(collection)
    const duplicate = collection.duplicateOf(id, document, owner => own?.has(owner) ?? false)
    if (duplicate !== undefined && this.#isNewer(collection, duplicate.owner)) throw new WriteConflict()
    return duplicate
  }

  /**
   * With read concern snapshot and write concern majority, a transaction that only reads ends when a majority has what it read
   * (https://www.mongodb.com/docs/manual/core/transactions/, "Read Concern snapshot").
   * @throws WriteConflict
   * @returns the position that a majority must have: of the last write, or of what was read
   */
  commit(): number {
    const changes = [...this.#changes].flatMap(([collection, own]) =>
      [...own].map(([id, { after, isReplacement }]) => ({
        collection,
        id,
        after: after && copy(after),
        isReplacement,
      })),
    )
    for (const { collection, id, after } of changes) {
      if (this.#isNewer(collection, id)) throw new WriteConflict()
      if (after !== undefined && this.duplicateOf(collection, id, after) !== undefined) throw new WriteConflict()
    }
    // Removals first, so that the values of unique indexes are free.
    const ordered = [
      ...changes.filter(({ after }) => after === undefined),
      ...changes.filter(({ after }) => after !== undefined),
    ]
    if (changes.length > 0) return this.#server.write(ordered)
    return this.#begin === undefined ? 0 : this.#server.newestAt(this.#checkedBegin())
  }

  #earlier(collection: StoredCollection): ReadonlyMap<string, Document | undefined> {
    return this.#server.documentsAt(this.#checkedBegin(), collection)
  }

  /** Whether others wrote the document after the first command. */
  #isNewer(collection: StoredCollection, id: string): boolean {
    return collection.writtenAt(id) > this.#checkedBegin()
  }

  /** The position of the first command. */
  #checkedBegin(): number {
    if (this.#server.term !== this.#term) throw new WriteConflict()
    this.#begin ??= this.#server.written
    return this.#begin
  }
}
