import type { ChannelDocument } from '@backstop/channels'
import type { ConnectionDocument, ProjectDocument } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import { narrowToProject, ownProject, type Principal } from '../access/rules/access.ts'
import type { ReadShelf, Stored, Where } from '../store/shelf.ts'
import type { ReadShelves } from '../store/stores.ts'

/** The refusal for what is not there and, in the same words, for what belongs to a project that the key is not good for. */
export function notFound(what: string, id: string): AppError {
  return new AppError('not_found', `There is no ${what} ${id}`)
}

/**
 * A document of the key's project.
 * @param what its name in the refusal: "delivery"
 * @param more what else it has to match
 * @throws AppError `not_found`
 */
export async function findOwn<D extends Stored>(
  shelf: Pick<ReadShelf<D>, 'find'>,
  principal: Principal,
  what: string,
  id: string,
  more?: Where<D>,
): Promise<D> {
  const found = await shelf.find({ ...more, ...ownProject(principal), _id: id } as Where<D>)
  if (found === undefined) throw notFound(what, id)
  return found
}

/** @throws AppError `not_found` unless it was found and belongs to the key's project */
export function requireOwn<T extends { readonly project_id: string }>(
  found: T | undefined,
  principal: Principal,
  what: string,
  id: string,
): T {
  const { project_id = found?.project_id } = ownProject(principal)
  if (found === undefined || found.project_id !== project_id) throw notFound(what, id)
  return found
}

/** @throws AppError `not_found` */
export async function findProject(
  { projects }: Pick<ReadShelves, 'projects'>,
  principal: Principal,
  id: string,
): Promise<ProjectDocument> {
  const isForeign = principal.projectId !== null && principal.projectId !== id
  const project = isForeign ? undefined : await projects.find({ _id: id })
  if (project === undefined) throw notFound('project', id)
  return project
}

/**
 * A connection that is not deleted, of the key's project and, where one is named, of that project.
 * @throws AppError `not_found`
 */
export async function findConnection(
  { connections }: Pick<ReadShelves, 'connections'>,
  principal: Principal,
  id: string,
  projectId?: string,
): Promise<ConnectionDocument> {
  const connection = await findOwn(connections, principal, 'connection', id, { deleted_at: null })
  if (projectId !== undefined && connection.project_id !== projectId) throw notFound('connection', id)
  return connection
}

/**
 * An alert channel that is not deleted, of the key's project.
 * @throws AppError `not_found`
 */
export function findChannel(
  { channels }: Pick<ReadShelves, 'channels'>,
  principal: Principal,
  id: string,
): Promise<ChannelDocument> {
  return findOwn(channels, principal, 'alert channel', id, { deleted_at: null })
}

/**
 * What a list is narrowed by when it may name a project.
 * @throws AppError `not_found` when that is another one than the key's
 */
export function projectFilter(principal: Principal, asked: string | undefined): { readonly project_id?: string } {
  const filter = narrowToProject(principal, asked)
  if (filter.kind === 'refused') throw notFound('project', asked ?? '')
  return filter.where
}
