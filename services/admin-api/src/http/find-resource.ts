import type { ChannelDocument } from '@backstop/channels'
import { type ConnectionDocument, isHeartbeatProject, type ProjectDocument } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { decideReach, type Principal, restrictToProject } from '../access/rules/access.ts'
import type { DocumentFilter, ReadCollection, StoredDocument } from '../store/collection.ts'
import type { ReadCollections } from '../store/stores.ts'
import { refusedField } from './refused-field.ts'

/** The error for a missing resource. A resource of another project gets the same words, so nobody can find out that it exists. */
export function notFound(what: string, id: string): AppError {
  return new AppError('not_found', `There is no ${what} ${id}`)
}

/** The error for a resource that the principal may see, but not use in this way. */
function forbidden(projectId: string | null): AppError {
  const where = projectId === null ? 'in all projects' : `in project ${projectId}`
  return new AppError('forbidden', `Your role ${where} does not allow this; ask an admin for another role`, {
    details: { reason: 'scope_missing' },
  })
}

/** @throws AppError `not_found` if the principal may not know the resource, `forbidden` if it may only see it */
export function checkReach(principal: Principal, projectId: string | null, what: string, id: string): void {
  const reach = decideReach(principal, projectId)
  if (reach === 'hidden') throw notFound(what, id)
  if (reach === 'visible') throw forbidden(projectId)
}

/**
 * Finds a document of a project of the principal.
 * @param what name of the resource in the error: "delivery"
 * @param more further fields that the document must match
 * @throws AppError `not_found`, `forbidden`
 */
export async function findInProject<D extends StoredDocument & { readonly project_id: string | null }>(
  collection: Pick<ReadCollection<D>, 'find'>,
  principal: Principal,
  what: string,
  id: string,
  more?: DocumentFilter<D>,
): Promise<D> {
  const found = await collection.find({ ...more, _id: id } as DocumentFilter<D>)
  return requireInProject(found, principal, what, id)
}

/** @throws AppError `not_found` if the resource is missing or hidden from the principal, `forbidden` */
export function requireInProject<T extends { readonly project_id: string | null }>(
  found: T | undefined,
  principal: Principal,
  what: string,
  id: string,
): T {
  if (found === undefined) throw notFound(what, id)
  checkReach(principal, found.project_id, what, id)
  return found
}

/** @throws AppError `not_found`, `forbidden` */
export async function findProject(
  { projects }: Pick<ReadCollections, 'projects'>,
  principal: Principal,
  id: string,
): Promise<ProjectDocument> {
  checkReach(principal, id, 'project', id)
  const project = await projects.find({ _id: id })
  if (project === undefined) throw notFound('project', id)
  return project
}

/**
 * Refuses a change of what belongs to the heartbeat. It could make the heartbeat report a fault that does not exist, or end it.
 * @throws AppError `conflict`
 */
export function refuseHeartbeat(projectId: string): void {
  if (!isHeartbeatProject(projectId)) return
  const detail = `Project ${projectId} belongs to the heartbeat of this installation and cannot be changed; HEARTBEAT=off ends the heartbeat`
  throw new AppError('conflict', detail)
}

/**
 * Finds a project to which something is added.
 * @throws AppError `not_found`; `conflict` if the project is archived, or is that of the heartbeat
 */
export async function findActiveProject(
  stores: Pick<ReadCollections, 'projects'>,
  principal: Principal,
  id: string,
): Promise<ProjectDocument> {
  const project = await findProject(stores, principal, id)
  refuseHeartbeat(project._id)
  if (project.archived_at == null) return project
  throw new AppError(
    'conflict',
    `Project ${id} is archived; restore it with PATCH /v1/projects/${id} {"archived": false}`,
  )
}

/**
 * Finds a connection of a project of the principal that is not deleted. If `projectId` is given, it must belong to that project.
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
 * Finds an alert channel of a project of the principal that is not deleted.
 * @throws AppError `not_found`
 */
export function findChannel(
  { channels }: Pick<ReadCollections, 'channels'>,
  principal: Principal,
  id: string,
): Promise<ChannelDocument> {
  return findInProject(channels, principal, 'alert channel', id, { deleted_at: null })
}

/** What belongs to the installation is not shown to a key of one project. @throws AppError `forbidden` */
export function requireAllProjects({ projectIds }: Principal): void {
  if (projectIds !== null) throw new AppError('forbidden', 'Use a key for all projects: this one is bound to a project')
}

/**
 * The project filter of a list whose query may name a project.
 * @throws AppError `not_found` or `forbidden` if the principal may not list the named project, `invalid_request` if it must name one
 */
export function projectFilterOf(principal: Principal, asked: string | undefined): { readonly project_id?: string } {
  const filter = restrictToProject(principal, asked)
  if (filter.kind === 'filter') return filter.where
  throw projectRefused(filter.reason, asked, 'query.project_id')
}

/** The error for a project that a principal may not use. @param path the field that names the project */
export function projectRefused(
  reason: 'hidden' | 'visible' | 'several_projects',
  asked: string | undefined,
  path: string,
): AppError {
  if (reason === 'several_projects') return refusedField(path, 'Give project_id: you have roles in several projects')
  return reason === 'visible' ? forbidden(asked ?? null) : notFound('project', asked ?? '')
}
