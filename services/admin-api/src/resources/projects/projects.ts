import {
  DEFAULT_APPROVAL_DEADLINE_S,
  NewProject,
  Project,
  type ProjectDocument,
  ProjectPatch,
} from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import { z } from 'zod'
import { changeVersioned } from '../../http/change-versioned.ts'
import { findProject } from '../../http/find-resource.ts'
import { etagOf } from '../../http/if-match.ts'
import { getRoute, listRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

const tag = 'Projects'

/** /v1/projects */
export function projectRoutes(parts: AdminParts): Route[] {
  const { stores } = parts
  return [
    createRoute(),
    listRoute({
      path: '/v1/projects',
      operationId: 'listProjects',
      tag,
      summary: 'List projects, newest first',
      items: 'projects',
      schema: Project,
      collection: stores.projects,
      sortedBy: 'created_at',
      narrow: ({ principal }) => (principal.projectId === null ? {} : { _id: principal.projectId }),
      show: showProject,
    }),
    getRoute({
      path: '/v1/projects/{id}',
      operationId: 'getProject',
      tag,
      summary: 'Get a project',
      item: 'project',
      schema: Project,
      isVersioned: true,
      find: ({ params, principal }) => findProject(stores, principal, params.id),
      show: showProject,
    }),
    changeRoute(parts),
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
      if (principal.projectId !== null) {
        throw new AppError('forbidden', 'This key is bound to a project; use a key for all projects to create one')
      }
      const project: ProjectDocument = {
        _id: newId('project'),
        name: body.name,
        branding: {},
        version: 1,
        created_at: now,
        updated_at: now,
      }
      await change(
        ({ projects }) => projects.put(project),
        () => ({ action: 'project.create', target: project._id, projectId: project._id }),
      )
      return {
        status: 201,
        body: showProject(project),
        headers: { etag: etagOf(project.version) },
      }
    },
  })
}

function changeRoute({ checkUrl }: AdminParts): Route {
  return defineRoute({
    method: 'patch',
    path: '/v1/projects/{id}',
    operationId: 'changeProject',
    tag,
    summary: 'Change the name, the approval rules or the branding of a project',
    description:
      'If approval is required, requested operations wait for it, and an operation that executes without it explains nothing. `branding` is replaced as a whole; {} restores the branding of this installation. GET /v1/previews shows the result. If-Match is optional.',
    scope: 'admin',
    params: z.object({ id: z.string() }),
    body: ProjectPatch,
    answers: { 200: { description: 'The changed project', schema: Project } },
    refusals: ['not_found', 'egress_blocked', 'precondition_failed', 'conflict'],
    honoursIfMatch: true,
    async handle({ params, body, principal, ifMatch, now, change }) {
      const logoUrl = body.branding?.logo_url
      const blocked = logoUrl === undefined ? undefined : checkUrl(logoUrl)
      if (blocked !== undefined) throw blocked
      const changed = await change(
        ({ projects }) =>
          changeVersioned({
            collection: projects,
            find: () => findProject({ projects }, principal, params.id),
            ifMatch,
            now,
            what: `project ${params.id}`,
            next: () => body,
          }),
        ({ _id }) => ({ action: 'project.change', target: _id, projectId: _id }),
      )
      return {
        status: 200,
        body: showProject(changed),
        headers: { etag: etagOf(changed.version) },
      }
    },
  })
}

function showProject({ _id, created_at, updated_at, ...fields }: ProjectDocument): Project {
  return {
    project_id: _id,
    requires_approval: false,
    approval_deadline_seconds: DEFAULT_APPROVAL_DEADLINE_S,
    ...fields,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
