import type { Document } from 'mongodb'
import type { Duplicate } from './errors.ts'
import type { IndexDefinition } from './indexes.ts'
import { StoredCollection } from './stored-collection.ts'
import { keyOf } from './values.ts'

/** An entry of the oplog. */
export interface OplogEntry {
  readonly position: number
  readonly collection: StoredCollection
  readonly id: string
  readonly before: Document | undefined
  readonly after: Document | undefined
  readonly isReplacement: boolean
  /** The position of the last write of the same step. An election keeps or loses a step as a whole. */
  readonly step: number
}

/** A change of one document. */
interface Write {
  readonly collection: StoredCollection
  readonly id: string
  /** Undefined removes it. */
  readonly after: Document | undefined
  readonly isReplacement?: boolean
}

/** Tells the server when a majority has its writes. */
export interface Replication {
  /** Calls `confirm` when a majority has all writes up to now. */
  replicate(confirm: () => void): void
}

interface Waiter {
  readonly position: number
  resolve(): void
  reject(error: Error): void
}

/** How many confirmed writes the oplog keeps for change streams. */
const KEPT_ENTRIES = 2_000

/**
 * A replica set in memory: the primary's documents, the writes that no majority has yet, and an oplog. An election removes these writes, as
 * a rollback does.
 */
export class MongoServer {
  readonly #collections = new Map<string, StoredCollection>()
  readonly #definitions: Readonly<Record<string, { readonly indexes: readonly IndexDefinition[] }>>
  readonly #replication: Replication
  #oplog: OplogEntry[] = []
  #written = 0
  #term = 0
  #confirmed = 0
  #waiters: Waiter[] = []
  readonly #followers = new Set<() => void>()
  #hasForgotten = false

  /** @param definitions the indexes by the name of the collection */
  constructor(
    definitions: Readonly<Record<string, { readonly indexes: readonly IndexDefinition[] }>>,
    replication: Replication,
  ) {
    this.#definitions = definitions
    this.#replication = replication
  }

  collection(name: string): StoredCollection {
    let found = this.#collections.get(name)
    if (found === undefined) {
      found = new StoredCollection(name, this.#definitions[name]?.indexes ?? [])
      this.#collections.set(name, found)
    }
    return found
  }

  collections(): Iterable<StoredCollection> {
    return this.#collections.values()
  }

  /** The number of elections so far. */
  get term(): number {
    return this.#term
  }

  /** The position of the newest write. */
  get written(): number {
    return this.#written
  }

  /** The position up to which a majority has all writes. */
  get confirmed(): number {
    return this.#confirmed
  }

  /** Writes documents in one step. @returns the position, for `untilConfirmed` */
  write(changes: readonly Write[]): number {
    const step = this.#written + changes.length
    for (const { collection, id, after, isReplacement = false } of changes) {
      this.#written += 1
      const before = collection.get(id)
      this.#oplog.push({ position: this.#written, collection, id, before, after, isReplacement, step })
      collection.set(id, after, this.#written)
    }
    const position = this.#written
    if (changes.length > 0) this.#replication.replicate(() => this.#confirm(position))
    return position
  }

  /** Resolves when a majority has the write. Rejects if an election rolls it back. */
  untilConfirmed(position: number): Promise<void> {
    if (position <= this.#confirmed) return Promise.resolve()
    return new Promise((resolve, reject) => this.#waiters.push({ position, resolve, reject }))
  }

  /** The position of the newest write up to a position that no election has removed. */
  newestAt(position: number): number {
    return this.#unconfirmed().findLast(entry => entry.position <= position)?.position ?? this.#confirmed
  }

  /** The document as a majority has it. */
  confirmedDocument(collection: StoredCollection, id: string): Document | undefined {
    const write = this.#unconfirmed().find(entry => entry.collection === collection && entry.id === id)
    return write === undefined ? collection.get(id) : write.before
  }

  /** The ids that have writes which no majority has. */
  unconfirmedIds(collection: StoredCollection): Set<string> {
    return new Set(this.#unconfirmed().flatMap(entry => (entry.collection === collection ? [entry.id] : [])))
  }

  /** The documents of a collection that were written after a position, by their ids, as they were at it. */
  documentsAt(position: number, collection: StoredCollection): ReadonlyMap<string, Document | undefined> {
    const earlier = new Map<string, Document | undefined>()
    for (let at = this.#oplog.length - 1; (this.#oplog[at]?.position ?? 0) > position; at -= 1) {
      const entry = this.#oplog[at]!
      if (entry.collection === collection) earlier.set(entry.id, entry.before)
    }
    return earlier
  }

  /**
   * Elects another member. It has the writes of a majority, and of the others those up to a position.
   * @param keep the share of the unconfirmed writes that the new primary has, from 0 to 1
   * @returns the number of writes that are lost
   */
  elect(keep: number): number {
    this.#term += 1
    const unconfirmed = this.#unconfirmed()
    const step = unconfirmed[Math.floor(unconfirmed.length * keep)]?.step ?? Number.POSITIVE_INFINITY
    const lost = unconfirmed.filter(entry => entry.step >= step)
    for (const entry of lost.toReversed()) entry.collection.set(entry.id, entry.before, this.#written)
    this.#oplog = this.#oplog.slice(0, this.#oplog.length - lost.length)
    const position = lost[0]?.position ?? Number.POSITIVE_INFINITY
    // Positions go on, so that a late confirmation of a lost write is not taken for that of a new one.
    const rolledBack = this.#waiters.filter(waiter => waiter.position >= position)
    this.#waiters = this.#waiters.filter(waiter => waiter.position < position)
    for (const waiter of rolledBack) waiter.reject(new RolledBack())
    return lost.length
  }

  /** Entries after a position that a majority has. Undefined if the oplog no longer reaches back to it. */
  entriesAfter(position: number): readonly OplogEntry[] | undefined {
    const first = this.#oplog[0]?.position ?? this.#written + 1
    if (position + 1 < first && first > 1 && this.#hasForgotten) return undefined
    if (position >= this.#confirmed) return []
    let from = this.#oplog.length
    while (from > 0 && (this.#oplog[from - 1]?.position ?? 0) > position) from -= 1
    return this.#oplog.slice(from).filter(entry => entry.position <= this.#confirmed)
  }

  /** Forgets the oplog, as if it were too small for the load. Open change streams fail. */
  forgetOplog(): void {
    this.#oplog = [...this.#unconfirmed()]
    this.#hasForgotten = true
  }

  /** Calls `wake` after each confirmation. @returns a function that ends this */
  follow(wake: () => void): () => void {
    this.#followers.add(wake)
    return () => this.#followers.delete(wake)
  }

  #unconfirmed(): readonly OplogEntry[] {
    let from = this.#oplog.length
    while (from > 0 && (this.#oplog[from - 1]?.position ?? 0) > this.#confirmed) from -= 1
    return this.#oplog.slice(from)
  }

  #confirm(position: number): void {
    if (position <= this.#confirmed) return
    this.#confirmed = position
    const done = this.#waiters.filter(waiter => waiter.position <= position)
    this.#waiters = this.#waiters.filter(waiter => waiter.position > position)
    for (const waiter of done) waiter.resolve()
    if (this.#oplog.length > 2 * KEPT_ENTRIES) {
      this.#oplog = this.#oplog.slice(-KEPT_ENTRIES)
      this.#hasForgotten = true
    }
    for (const wake of this.#followers) wake()
  }
}

/** A write that an election removed. */
export class RolledBack extends Error {
  override readonly name = 'RolledBack'
}

/** What one command sees and writes: the server itself, or a transaction. */
export interface View {
  /** The newest document, which a write changes. */
  get(collection: StoredCollection, id: string): Document | undefined
  /** The newest documents among which all that match are. */
  candidates(collection: StoredCollection, filter: Document): Document[]
  /** Documents as a reader sees them. */
  readable(collection: StoredCollection, filter: Document): Document[]
  /** @throws WriteConflict in a transaction */
  put(collection: StoredCollection, id: string, after: Document | undefined, isReplacement?: boolean): void
  /** Like `StoredCollection.duplicateOf`. @throws WriteConflict in a transaction */
  duplicateOf(collection: StoredCollection, id: string, document: Document): Duplicate | undefined
}

/** Commands outside of transactions. Collects their writes, so that one command is one step. */
export class DirectView implements View {
  readonly #server: MongoServer
  position = 0

  constructor(server: MongoServer) {
    this.#server = server
  }

  get(collection: StoredCollection, id: string): Document | undefined {
    return collection.get(id)
  }

  candidates(collection: StoredCollection, filter: Document): Document[] {
    return collection.candidates(filter)
  }

  /** With read concern majority, which all of the product's clients have. */
  readable(collection: StoredCollection, filter: Document): Document[] {
    const changed = this.#server.unconfirmedIds(collection)
    const newest = collection.candidates(filter)
    if (changed.size === 0) return newest
    const unchanged = newest.filter(document => !changed.has(keyOf(document._id)))
    const earlier = [...changed].flatMap(id => this.#server.confirmedDocument(collection, id) ?? [])
    return [...unchanged, ...earlier]
  }

  put(collection: StoredCollection, id: string, after: Document | undefined, isReplacement = false): void {
    this.position = this.#server.write([{ collection, id, after, isReplacement }])
  }

  duplicateOf(collection: StoredCollection, id: string, document: Document): Duplicate | undefined {
    return collection.duplicateOf(id, document)
  }
}
