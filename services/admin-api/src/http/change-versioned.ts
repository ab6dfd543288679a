import { lostRace } from '@backstop/kit'
import type { Shelf, Where } from '../store/shelf.ts'
import { checkIfMatch } from './if-match.ts'

interface Versioned {
  readonly _id: string
  /** Grows by one with each change; it is the entity tag. */
  readonly version: number
  readonly updated_at: Date
}

/** A change of one versioned document. */
export interface VersionedChange<D extends Versioned> {
  /** Of a change (`RouteRequest.change`), as is what `find` reads of: what came in between has it run again. */
  readonly shelf: Pick<Shelf<D>, 'change'>
  /** Reads what is to change. @throws AppError `not_found` */
  find(): Promise<D>
  readonly ifMatch: string | undefined
  readonly now: Date
  /** What it is, in the middle of a sentence: "connection con_1". */
  readonly what: string
  /** The fields that change, computed from what is stored. */
  next(document: D): FieldsOf<D>
}

/** A field that is named and undefined stays as it is, as in a body that leaves it out. */
type FieldsOf<D> = { readonly [Field in Exclude<keyof D, keyof Versioned>]?: D[Field] | undefined }

/**
 * Changes a document on the version that was read, so that no change of somebody else's is undone.
 * @throws AppError `precondition_failed` when If-Match names another version, `conflict` when it changed at the same moment
 */
export async function changeVersioned<D extends Versioned>(change: VersionedChange<D>): Promise<D> {
  const document = await change.find()
  checkIfMatch(change.ifMatch, document.version)
  const named = Object.entries(change.next(document)).filter(([, value]) => value !== undefined)
  const fields = { ...Object.fromEntries(named), version: document.version + 1, updated_at: change.now }
  const asRead = { _id: document._id, version: document.version } as unknown as Where<D>
  const changed = await change.shelf.change(asRead, fields as unknown as Partial<Omit<D, '_id'>>)
  if (changed !== undefined) return changed
  throw lostRace(change.what)
}
