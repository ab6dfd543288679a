import type { ChannelDocument, ConnectionDocument, ProjectDocument } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import { narrowToProject, ownProject, type Principal } from '../access/rules/access.ts'
import type { ReadShelves } from '../store/stores.ts'

/** The refusal for what is not there and, in the same words, for what belongs to a project that the key is not good for. */
export function notFound(what: string, id: string): AppError {
  return new AppError('not_found', `There is no ${what} ${id}`)
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
  const connection = await connections.find({ _id: id, deleted_at: null, ...ownProject(principal) })
  if (connection === undefined || (projectId !== undefined && connection.project_id !== projectId)) {
    throw notFound('connection', id)
  }
  return connection
}

/**
 * An alert channel that is not deleted, of the key's project.
 * @throws AppError `not_found`
 */
export async function findChannel(
  { channels }: Pick<ReadShelves, 'channels'>,
  principal: Principal,
  id: string,
): Promise<ChannelDocument> {
  const channel = await channels.find({ _id: id, deleted_at: null, ...ownProject(principal) })
  if (channel === undefined) throw notFound('alert channel', id)
  return channel
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
