import { lostRace } from '@backstop/kit/errors'
import type { Collection, DocumentFilter } from '../store/collection.ts'
import { checkIfMatch } from './if-match.ts'

interface Versioned {
  readonly _id: string
  /** Grows by one with each change. It is the entity tag. */
  readonly version: number
  readonly updated_at: Date
}

/** A change of one versioned document. */
export interface VersionedChange<D extends Versioned> {
  /**
   * The collection of the transaction of `RouteRequest.change`. `find` reads from the same transaction, so a concurrent change makes the
   * transaction run again.
   */
  readonly collection: Pick<Collection<D>, 'change'>
  /** Reads the document to change. @throws AppError `not_found` */
  find(): Promise<D>
  readonly ifMatch: string | undefined
  readonly now: Date
  /** Names the document in the middle of a sentence: "connection con_1". */
  readonly what: string
  /** Computes the changed fields from the stored document. */
  next(document: D): FieldsOf<D>
}

/** The fields that may change. A field with the value undefined keeps its stored value. */
type FieldsOf<D> = { readonly [Field in Exclude<keyof D, keyof Versioned>]?: D[Field] | undefined }

/**
 * Changes a document only if it still has the version that was read, so that no concurrent change is lost.
 * @throws AppError `precondition_failed` if If-Match names another version, `conflict` if a concurrent change came first
 */
export async function changeVersioned<D extends Versioned>(change: VersionedChange<D>): Promise<D> {
  const document = await change.find()
  checkIfMatch(change.ifMatch, document.version)
  const named = Object.entries(change.next(document)).filter(([, value]) => value !== undefined)
  const fields = { ...Object.fromEntries(named), version: document.version + 1, updated_at: change.now }
  const asRead = { _id: document._id, version: document.version } as unknown as DocumentFilter<D>
  const changed = await change.collection.change(asRead, fields as unknown as Partial<Omit<D, '_id'>>)
  if (changed !== undefined) return changed
  throw lostRace(change.what)
}
