import type { ChannelDocument } from '@backstop/channels'
import type { ConnectionDocument, ProjectDocument } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import { ownProjectFilter, type Principal, restrictToProject } from '../access/rules/access.ts'
import type { DocumentFilter, ReadCollection, StoredDocument } from '../store/collection.ts'
import type { ReadCollections } from '../store/stores.ts'

/** The error for a missing resource. A resource of another project gets the same words, so a key cannot find out that it exists. */
export function notFound(what: string, id: string): AppError {
  return new AppError('not_found', `There is no ${what} ${id}`)
}

/**
 * Finds a document of the key's project.
 * @param what name of the resource in the error: "delivery"
 * @param more further fields that the document must match
 * @throws AppError `not_found`
 */
export async function findInProject<D extends StoredDocument>(
  collection: Pick<ReadCollection<D>, 'find'>,
  principal: Principal,
  what: string,
  id: string,
  more?: DocumentFilter<D>,
): Promise<D> {
  const found = await collection.find({ ...more, ...ownProjectFilter(principal), _id: id } as DocumentFilter<D>)
  if (found === undefined) throw notFound(what, id)
  return found
}

/** @throws AppError `not_found` if the resource is missing or belongs to a project that the key may not access */
export function requireInProject<T extends { readonly project_id: string }>(
  found: T | undefined,
  principal: Principal,
  what: string,
  id: string,
): T {
  const { project_id = found?.project_id } = ownProjectFilter(principal)
  if (found === undefined || found.project_id !== project_id) throw notFound(what, id)
  return found
}

/** @throws AppError `not_found` */
export async function findProject(
  { projects }: Pick<ReadCollections, 'projects'>,
  principal: Principal,
  id: string,
): Promise<ProjectDocument> {
  const isForeign = principal.projectId !== null && principal.projectId !== id
  const project = isForeign ? undefined : await projects.find({ _id: id })
  if (project === undefined) throw notFound('project', id)
  return project
}

/**
 * Finds a connection of the key's project that is not deleted. If `projectId` is given, it must belong to that project.
 * @throws AppError `not_found`
 */
export async function findConnection(
  { connections }: Pick<ReadCollections, 'connections'>,
  principal: Principal,
  id: string,
  projectId?: string,
): Promise<ConnectionDocument> {
  const connection = await findInProject(connections, principal, 'connection', id, { deleted_at: null })
  if (projectId !== undefined && connection.project_id !== projectId) throw notFound('connection', id)
  return connection
}

/**
 * Finds an alert channel of the key's project that is not deleted.
 * @throws AppError `not_found`
 */
export function findChannel(
  { channels }: Pick<ReadCollections, 'channels'>,
  principal: Principal,
  id: string,
): Promise<ChannelDocument> {
  return findInProject(channels, principal, 'alert channel', id, { deleted_at: null })
}

/**
 * The project filter of a list whose query may name a project.
 * @throws AppError `not_found` if the key may not access the named project
 */
export function projectFilterOf(principal: Principal, asked: string | undefined): { readonly project_id?: string } {
  const filter = restrictToProject(principal, asked)
  if (filter.kind === 'refused') throw notFound('project', asked ?? '')
  return filter.where
}
