import type { Document } from 'mongodb'
import { boundsOfBranches, documentsByIndex, type IndexBounds, type Order, sortDocuments } from './bson-order.ts'
import { project } from './expressions.ts'
import { copy } from './values.ts'

/** The driver's cursor. It reads everything at its first call; the product's cursors are short or restartable. */
export class SimulatedCursor {
  readonly #read: () => Promise<Document[]>
  #sort: Order | undefined
  #hint: Order | undefined
  #bounds: IndexBounds = {}
  readonly #filter: Document
  #skip = 0
  #limit = 0
  #projection: Document | undefined
  #convert: ((document: Document) => unknown) | undefined
  #batchSize: number
  #rest: unknown[] | undefined

  constructor(
    read: () => Promise<Document[]>,
    filter: Document,
    { projection, sort, hint, limit, skip, batchSize }: Document,
  ) {
    this.#read = read
    this.#filter = filter
    this.#projection = projection
    this.#sort = sort
    this.#hint = hint
    this.#limit = limit ?? 0
    this.#batchSize = batchSize ?? 1_000
    this.#skip = skip ?? 0
  }

  sort(sort: Order): this {
    this.#sort = sort
    return this
  }

  limit(count: number): this {
    this.#limit = count
    return this
  }

  skip(count: number): this {
    this.#skip = count
    return this
  }

  project(projection: Document): this {
    this.#projection = projection
    return this
  }

  hint(index: Order): this {
    this.#hint = index
    return this
  }

  min(min: Document): this {
    this.#bounds = { ...this.#bounds, min }
    return this
  }

  max(max: Document): this {
    this.#bounds = { ...this.#bounds, max }
    return this
  }

  batchSize(count: number): this {
    this.#batchSize = count
    return this
  }

  maxTimeMS(): this {
    return this
  }

  map(convert: (document: Document) => unknown): this {
    this.#convert = convert
    return this
  }

  async toArray(): Promise<unknown[]> {
    const read = await this.#read()
    const found = this.#inOrder(read)
    const sorted = this.#sort === undefined ? found : sortDocuments(found, this.#sort)
    const end = this.#limit === 0 ? undefined : this.#skip + Math.abs(this.#limit)
    const documents = sorted.slice(this.#skip, end).map(document => copy(project(document, this.#projection)))
    return this.#convert === undefined ? documents : documents.map(this.#convert)
  }

  /** A hinted query reads its index, and of a query with `$or` and without a sort one branch after the other. */
  #inOrder(read: Document[]): Document[] {
    const hint = this.#hint
    if (hint === undefined || this.#sort !== undefined) return read
    const parts = boundsOfBranches(this.#filter, hint) ?? [this.#bounds]
    return [...new Set(parts.flatMap(bounds => documentsByIndex(read, hint, bounds)))]
  }

  async next(): Promise<unknown> {
    this.#rest ??= await this.toArray()
    return this.#rest.shift() ?? null
  }

  tryNext(): Promise<unknown> {
    return this.next()
  }

  async hasNext(): Promise<boolean> {
    this.#rest ??= await this.toArray()
    return this.#rest.length > 0
  }

  /** The rest of a batch. */
  readBufferedDocuments(): unknown[] {
    return this.#rest?.splice(0, this.#batchSize) ?? []
  }

  async close(): Promise<void> {
    this.#rest = []
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown> {
    for (let next = await this.next(); next !== null; next = await this.next()) yield next
  }
}
