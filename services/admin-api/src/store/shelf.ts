/**
 * One collection as a narrow port: what the management API needs of a database and no more, so that the resources are
 * written once and run over MongoDB (mongo-shelf.ts) or in memory (test/memory-shelf.ts). Both pass test/shelf.contract.ts.
 * Every call throws AppError `unavailable` when the database is away.
 */
export interface Stored {
  readonly _id: string
}

/**
 * What a document is found by: each field named has that value; a list holds it; `in` names several values; null finds what
 * has no such field, too.
 */
export type Where<D> = {
  readonly [Field in keyof D]?: Match<D[Field]> | (undefined extends D[Field] ? null : never) | undefined
}
type Match<Value> = [Value] extends [readonly (infer Item)[]] ? Item : Value | { readonly in: readonly Value[] }

/** A page of a list. */
export interface PageRequest<D> {
  readonly where: Where<D>
  /** The date that the list is sorted by, newest first; documents of the same moment by id, downwards. */
  readonly by: keyof D & string
  /** Only what that date lies in: from `from` on, and before `before`. */
  readonly window?: { readonly from?: Date | undefined; readonly before?: Date | undefined } | undefined
  /** Only what comes after this place of that order. */
  readonly after?: { readonly at: Date; readonly id: string } | undefined
  readonly limit: number
}

/** A collection to read. */
export interface ReadShelf<D extends Stored> {
  find(where: Where<D>): Promise<D | undefined>
  /** All that match, in no order: for what is known to be few. */
  findAll(where: Where<D>): Promise<D[]>
  page(request: PageRequest<D>): Promise<D[]>
}

/** A collection to read and write. */
export interface Shelf<D extends Stored> extends ReadShelf<D> {
  /** @returns false when the id, or another unique field, is taken */
  insert(document: D): Promise<boolean>
  /** Stores the document, in place of the one with the same id if there is one. */
  put(document: D): Promise<void>
  /** Sets fields of the one document that matches, in one step. @returns it as it is then, or undefined if none matched */
  change(where: Where<D>, fields: Partial<Omit<D, '_id'>>): Promise<D | undefined>
  remove(where: Where<D>): Promise<void>
}
