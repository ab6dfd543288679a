import { lostRace } from '@backstop/kit/errors'
import type { Collection, DocumentFilter, StoredDocument } from '../store/collection.ts'
import type { AdminCollections } from '../store/stores.ts'
import { checkIfMatch } from './if-match.ts'
import type { AuditedChange, RouteRequest } from './route.ts'

type ChangeRequest = Pick<RouteRequest<never, never, never>, 'change' | 'ifMatch' | 'now'>
type InProject = StoredDocument & { readonly project_id: string | null }

interface Versioned {
  readonly _id: string
  /** Grows by one with each change. It is the entity tag. */
  readonly version: number
  readonly updated_at: Date
}

/** The fields that may change. A field with the value undefined keeps its stored value. */
type FieldsOf<D> = { readonly [Field in Exclude<keyof D, keyof Versioned>]?: D[Field] | undefined }

/** A change of one versioned document. */
export interface VersionedChange<D extends Versioned> {
  /**
   * The collection of the transaction of `RouteRequest.change`. `find` reads from the same transaction, so a concurrent change makes the
   * transaction run again.
   */
  readonly collection: Pick<Collection<D>, 'change'>
  /** Reads the document to change. @throws AppError `not_found` */
  find(): Promise<D>
  /** Names the document in the middle of a sentence: "connection con_1". */
  readonly what: string
  /**
   * Computes the changed fields from the stored document; undefined if nothing must change.
   * @param doneAt as for `RouteRequest.change`
   */
  next(document: D, doneAt?: Date): FieldsOf<D> | undefined
}

/**
 * Changes a document only if it still has the version that was read, so that no concurrent change is lost.
 * @throws AppError `precondition_failed` if If-Match names another version, `conflict` if a concurrent change came first
 */
export async function changeVersioned<D extends Versioned>(
  { ifMatch, now }: Pick<ChangeRequest, 'now'> & Partial<Pick<ChangeRequest, 'ifMatch'>>,
  { collection, find, what, next }: VersionedChange<D>,
  doneAt?: Date,
): Promise<D> {
  const document = await find()
  checkIfMatch(ifMatch, document.version)
  const changed = next(document, doneAt)
  if (changed === undefined) return document
  const named = Object.entries(changed).filter(([, value]) => value !== undefined)
  const fields = { ...Object.fromEntries(named), version: document.version + 1, updated_at: now }
  const asRead = { _id: document._id, version: document.version } as unknown as DocumentFilter<D>
  const stored = await collection.change(asRead, fields as unknown as Partial<Omit<D, '_id'>>)
  if (stored !== undefined) return stored
  throw lostRace(what)
}

/** Describes the change of a document of a project for its audit row. */
export function auditedAs(action: string): (document: InProject) => AuditedChange {
  return ({ _id, project_id }) => ({ action, target: _id, projectId: project_id })
}

/** Stores a new document of a project with its audit row. */
export async function storeNew<D extends InProject>(
  { change }: Pick<ChangeRequest, 'change'>,
  collectionOf: (collections: AdminCollections) => Pick<Collection<D>, 'put'>,
  document: D,
  action: string,
): Promise<void> {
  await change(
    collections => collectionOf(collections).put(document),
    () => auditedAs(action)(document),
  )
}

/** Changes a versioned document of a project with its audit row. @throws AppError as `changeVersioned` */
export function changeAudited<D extends Versioned & InProject>(
  request: ChangeRequest,
  action: string,
  changeOf: (collections: AdminCollections) => VersionedChange<D>,
): Promise<D> {
  return request.change(
    (collections, doneAt) => changeVersioned(request, changeOf(collections), doneAt),
    auditedAs(action),
  )
}
