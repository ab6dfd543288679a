import { ListQuery, listOf, NewProject, Project, type ProjectDocument } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import { z } from 'zod'
import type { AdminParts } from '../parts.ts'
import { decodeCursor, toPage } from './cursor.ts'
import { findProject } from './found.ts'
import { defineRoute, type Route } from './route.ts'

const tag = 'Projects'

/** /v1/projects */
export function projectRoutes({ stores }: AdminParts): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/v1/projects',
      operationId: 'createProject',
      tag,
      summary: 'Make a project',
      description: 'Takes a key that is bound to no project.',
      scope: 'admin',
      body: NewProject,
      answers: { 201: { description: 'The project', schema: Project } },
      async handle({ body, principal, newId, now }) {
        if (principal.projectId !== null) {
          throw new AppError('forbidden', 'This key is bound to a project; only a key without one makes projects')
        }
        const project: ProjectDocument = { _id: newId('project'), name: body.name, created_at: now }
        await stores.projects.put(project)
        const changed = { action: 'project.create', target: project._id, projectId: project._id }
        return { status: 201, body: showProject(project), changed }
      },
    }),
    defineRoute({
      method: 'get',
      path: '/v1/projects',
      operationId: 'listProjects',
      tag,
      summary: 'List projects, newest first',
      scope: 'read',
      query: ListQuery,
      answers: { 200: { description: 'A page of projects', schema: listOf(Project) } },
      async handle({ query, principal }) {
        const where = principal.projectId === null ? {} : { _id: principal.projectId }
        const after = decodeCursor(query.cursor)
        const found = await stores.projects.page({ where, by: 'created_at', after, limit: query.limit + 1 })
        const placeOf = (project: ProjectDocument) => ({ at: project.created_at, id: project._id })
        return { status: 200, body: toPage(found, query.limit, placeOf, showProject) }
      },
    }),
    defineRoute({
      method: 'get',
      path: '/v1/projects/{id}',
      operationId: 'getProject',
      tag,
      summary: 'Read a project',
      scope: 'read',
      params: z.object({ id: z.string() }),
      answers: { 200: { description: 'The project', schema: Project } },
      refusals: ['not_found'],
      async handle({ params, principal }) {
        return { status: 200, body: showProject(await findProject(stores, principal, params.id)) }
      },
    }),
  ]
}

function showProject(project: ProjectDocument): Project {
  return { project_id: project._id, name: project.name, created_at: project.created_at.toISOString() }
}
