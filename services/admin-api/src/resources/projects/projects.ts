import {
  DEFAULT_APPROVAL_DEADLINE_S,
  DEFAULT_TIME_ZONE,
  NewProject,
  Project,
  type ProjectDocument,
  ProjectPatch,
  ProjectQuery,
} from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { changeVersioned } from '../../http/change-document.ts'
import { findActiveProject, findProject, refuseHeartbeat } from '../../http/find-resource.ts'
import { itemRoute, listRoute } from '../../http/read-routes.ts'
import { refusedUrl } from '../../http/refused-field.ts'
import { defineRoute, type Route, versionedAnswer } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { showDocument } from '../../rules/show-document.ts'
import type { AdminCollections } from '../../store/stores.ts'
import { deletedChannel } from '../alert-channels/rules/alert-channel.ts'
import { deletedConnection } from '../connections/rules/connection.ts'
import { unresolvedRoute } from './unresolved.ts'

const tag = 'Projects'

/** /v1/projects */
export function projectRoutes(parts: AdminParts): Route[] {
  const { stores } = parts
  const resource = { path: '/v1/projects', tag, schema: Project, show: showProject } as const
  return [
    createRoute(),
    listRoute({
      ...resource,
      operationId: 'listProjects',
      summary: 'List projects, newest first',
      description: 'The active projects, or with `archived=true` the archived ones.',
      items: 'projects',
      query: ProjectQuery,
      collection: stores.projects,
      sortedBy: 'created_at',
      narrow: ({ principal }) => (principal.projectIds === null ? {} : { _id: { in: principal.projectIds } }),
      filter: ({ archived = false }) => ({ archived_at: archived ? { min: new Date(0) } : null }),
    }),
    itemRoute({
      ...resource,
      path: '/v1/projects/{id}',
      operationId: 'getProject',
      summary: 'Get a project',
      item: 'project',
      isVersioned: true,
      find: ({ params, principal }) => findProject(stores, principal, params.id),
    }),
    unresolvedRoute(parts),
    changeRoute(parts),
    removeDemoRoute(),
  ]
}

function createRoute(): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/projects',
    operationId: 'createProject',
    tag,
    summary: 'Create a project',
    description: 'Requires a key for all projects.',
    scope: 'admin',
    body: NewProject,
    answers: { 201: { description: 'The project; its version is the ETag', schema: Project } },
    async handle({ body, principal, newId, now, change }) {
      if (principal.projectIds !== null) {
        throw new AppError('forbidden', 'Creating a project requires the scope admin in all projects')
      }
      const project: ProjectDocument = {
        _id: newId('project'),
        name: body.name,
        branding: {},
        ...(body.demo ? { demo: true } : {}),
        version: 1,
        created_at: now,
        updated_at: now,
      }
      await change(
        ({ projects }) => projects.put(project),
        () => ({ action: 'project.create', target: project._id, projectId: project._id }),
      )
      return versionedAnswer(201, showProject(project))
    },
  })
}

function changeRoute({ checkUrl }: AdminParts): Route {
  return defineRoute({
    method: 'patch',
    path: '/v1/projects/{id}',
    operationId: 'changeProject',
    tag,
    summary: 'Change, archive or restore a project',
    description:
      'If approval is required, requested operations wait for it, and an operation that executes without it explains nothing. `branding` is replaced as a whole; {} restores the branding of this installation. GET /v1/previews shows the result. An archived project must have no connections and gets nothing new; its history can still be read. If-Match is optional.',
    scope: 'admin',
    body: ProjectPatch,
    answers: { 200: { description: 'The changed project', schema: Project } },
    refusals: ['egress_blocked'],
    honoursIfMatch: true,
    async handle({ params, body, principal, ifMatch, now, change }) {
      const logoUrl = body.branding?.logo_url
      const blocked = logoUrl === undefined ? undefined : checkUrl(logoUrl)
      if (blocked !== undefined) throw refusedUrl('body.branding.logo_url', blocked)
      const { after } = await change(
        async ({ projects, connections }) => {
          const { archived, ...fields } = body
          const before = await findProject({ projects }, principal, params.id)
          refuseHeartbeat(before._id)
          if (archived === true) await refuseConnected(connections, before._id)
          const archived_at = nextArchivedAt(archived, before.archived_at ?? null, now)
          const after = await changeVersioned(
            { ifMatch, now },
            {
              collection: projects,
              find: async () => before,
              what: `project ${params.id}`,
              next: () => ({ ...fields, archived_at }),
            },
          )
          return { before, after }
        },
        ({ before, after: { _id, archived_at } }) => ({
          action: auditActionOf(before.archived_at ?? null, archived_at ?? null),
          target: _id,
          projectId: _id,
        }),
      )
      return versionedAnswer(200, showProject(after))
    },
  })
}

/**
 * An archived project must not alert, and a connection could.
 * Known gap: a connection that is created at the same moment is not seen. GET shows it, and it works as before.
 * @throws AppError `conflict`
 */
async function refuseConnected(
  connections: Pick<AdminCollections['connections'], 'find'>,
  projectId: string,
): Promise<void> {
  const connection = await connections.find({ project_id: projectId, deleted_at: null })
  if (connection === undefined) return
  throw new AppError(
    'conflict',
    `Project ${projectId} has the connection ${connection._id}; delete its connections first`,
  )
}

function nextArchivedAt(archived: boolean | undefined, present: Date | null, now: Date): Date | null {
  if (archived === undefined) return present
  return archived ? (present ?? now) : null
}

function auditActionOf(before: Date | null, after: Date | null): string {
  if ((before === null) === (after === null)) return 'project.change'
  return after === null ? 'project.restore' : 'project.archive'
}

function showProject(document: ProjectDocument): Project {
  const { requires_approval = false, approval_deadline_seconds = DEFAULT_APPROVAL_DEADLINE_S } = document
  const { time_zone = DEFAULT_TIME_ZONE, demo = false } = document
  const defaults = { requires_approval, approval_deadline_seconds, time_zone, demo }
  const archived_at = document.archived_at?.toISOString() ?? null
  return showDocument(Project, document, { project_id: document._id, ...defaults, archived_at })
}

/**
 * DELETE /v1/projects/{id}: removes a demo project. Its connections and channels are deleted, which erases their secrets and stops
 * alerts, and the project is archived. Real projects are archived by hand, because one wrong click must not disconnect an account.
 */
export function removeDemoRoute(): Route {
  return defineRoute({
    method: 'delete',
    path: '/v1/projects/{id}',
    operationId: 'removeDemoProject',
    tag: 'Projects',
    summary: 'Remove a demo project',
    description:
      'Deletes the connections and channels of a project with `demo: true`, and archives it. Any other project is refused with `conflict`: delete its connections, then archive it.',
    scope: 'admin',
    answers: { 204: { description: 'The demo project is removed' } },
    refusals: ['conflict'],
    async handle({ params, principal, now, change }) {
      await change(
        async collections => {
          const { connections, channels, projects } = collections
          const project = await findActiveProject(collections, principal, params.id)
          if (project.demo !== true) {
            throw new AppError(
              'conflict',
              `Project ${project._id} is no demo; delete its connections, then archive it with {"archived": true}`,
            )
          }
          const active = { project_id: project._id, deleted_at: null }
          const [connected, alerting] = [await connections.findAll(active), await channels.findAll(active)]
          for (const found of connected) {
            const [find, what] = [async () => found, `connection ${found._id}`]
            await changeVersioned({ now }, { collection: connections, find, what, next: () => deletedConnection(now) })
          }
          for (const found of alerting) {
            const [find, what] = [async () => found, `alert channel ${found._id}`]
            await changeVersioned({ now }, { collection: channels, find, what, next: () => deletedChannel(found, now) })
          }
          const [find, what] = [async () => project, `project ${project._id}`]
          await changeVersioned({ now }, { collection: projects, find, what, next: () => ({ archived_at: now }) })
          return { project, connected, alerting }
        },
        ({ project: { _id: projectId }, connected, alerting }) => [
          ...connected.map(({ _id }) => ({ action: 'connection.delete', target: _id, projectId })),
          ...alerting.map(({ _id }) => ({ action: 'alert_channel.delete', target: _id, projectId })),
          { action: 'project.remove_demo', target: projectId, projectId },
        ],
      )
      return { status: 204 }
    },
  })
}
