/**
 * A port to one database collection, with only the methods that the management API uses. The resources run over MongoDB
 * (mongo-collection.ts) or in memory (test/memory-collection.ts). Both implementations pass test/collection.contract.ts. Every call
 * throws AppError `unavailable` if the database is unavailable.
 */
export interface StoredDocument {
  readonly _id: string
}

/**
 * Conditions on the fields of a document. A value matches an equal field or a list that contains it, `in` matches any of several values,
 * `not` every other value, `min` and `max` a range that includes both ends, and null also matches a missing field.
 */
export type DocumentFilter<D> = {
  readonly [Field in keyof D]?: Match<D[Field]> | (undefined extends D[Field] ? null : never) | undefined
}
type Match<Value> = [Value] extends [readonly (infer Item)[]]
  ? Item
  : Value | { readonly in: readonly Value[] } | { readonly not: Value } | Range<Value>

/** Values between two inclusive bounds, of which one may be absent. */
export interface Range<Value> {
  readonly min?: Value | undefined
  readonly max?: Value | undefined
}

/** A request for one page of a list. */
export interface PageRequest<D> {
  readonly where: DocumentFilter<D>
  /** The date that sorts the list, newest first. Documents with the same date are sorted by id, descending. */
  readonly by: keyof D & string
  /** True for the opposite order. */
  readonly oldestFirst?: boolean | undefined
  /** Limits the date: `from` is included, `before` is excluded. */
  readonly window?: { readonly from?: Date | undefined; readonly before?: Date | undefined } | undefined
  /** The position after which the page begins. */
  readonly after?: { readonly at: Date; readonly id: string } | undefined
  readonly limit: number
  /** Leaves out documents whose BSON is larger. Default: no limit. */
  readonly maxBytes?: number | undefined
}

/** A collection for reading. */
export interface ReadCollection<D extends StoredDocument> {
  find(where: DocumentFilter<D>): Promise<D | undefined>
  /** All matching documents, in no order. Use it only for small results. */
  findAll(where: DocumentFilter<D>): Promise<D[]>
  page(request: PageRequest<D>): Promise<D[]>
  /**
   * Reads the id and the given fields of all matching documents in no order, in batches of at most `BATCH_SIZE`. It holds one batch in
   * memory.
   */
  batches<F extends keyof D & string>(
    where: DocumentFilter<D>,
    fields: readonly F[],
  ): AsyncIterable<readonly Pick<D, F | '_id'>[]>
}

/** The most documents in a batch of `ReadCollection.batches`. */
export const BATCH_SIZE = 1_000

/** A collection for reading and writing. */
export interface Collection<D extends StoredDocument> extends ReadCollection<D> {
  /** @returns false if the id or another unique field already exists */
  insert(document: D): Promise<boolean>
  /** Stores the document and replaces a document with the same id. */
  put(document: D): Promise<void>
  /** Stores many documents as `put` does. Outside of a transaction some may be stored although it throws. */
  putAll(documents: readonly D[]): Promise<void>
  /** Sets fields of the one matching document atomically. @returns the changed document, or undefined if none matched */
  change(where: DocumentFilter<D>, fields: Partial<Omit<D, '_id'>>): Promise<D | undefined>
  remove(where: DocumentFilter<D>): Promise<void>
}
