import { NewPerson, Person, type PersonDocument, PersonPatch, PersonQuery } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { z } from 'zod'
import type { Principal } from '../../access/rules/access.ts'
import { changeRoles, projectIdsOf, rolesIn } from '../../access/rules/roles.ts'
import { changeVersioned } from '../../http/change-versioned.ts'
import { checkReach, findProject, projectFilterOf } from '../../http/find-resource.ts'
import { etagOf } from '../../http/if-match.ts'
import { getRoute, listRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { DocumentFilter } from '../../store/collection.ts'
import type { AdminCollections } from '../../store/stores.ts'
import { describeByProject } from './describe-by-project.ts'
import { findPerson } from './find-person.ts'

const tag = 'People'

/** /v1/people */
export function peopleRoutes(parts: AdminParts): Route[] {
  const { stores } = parts
  return [
    createRoute(parts),
    listRoute({
      path: '/v1/people',
      operationId: 'listPeople',
      tag,
      summary: 'List people with their roles, newest first',
      scope: 'admin',
      items: 'people',
      query: PersonQuery,
      schema: Person,
      collection: stores.people,
      sortedBy: 'created_at',
      narrow: ({ principal, query }) => peopleOf(projectFilterOf(principal, query.project_id).project_id),
      show: (person, _, __, principal) => showPerson(person, principal),
    }),
    getRoute({
      path: '/v1/people/{id}',
      operationId: 'getPerson',
      tag,
      summary: 'Get a person',
      scope: 'admin',
      item: 'person',
      schema: Person,
      isVersioned: true,
      find: ({ params, principal }) => findPerson(stores, principal, params.id),
      show: (person, _, principal) => showPerson(person, principal),
    }),
    changeRoute(parts),
    removeRoute(),
  ]
}

/** A role in all projects counts in each project. */
function peopleOf(projectId: string | undefined): DocumentFilter<PersonDocument> {
  if (projectId === undefined) return {}
  // A cast, because `in` of a list field matches if any item is one of the values.
  return { project_ids: { in: [projectId, '*'] } } as unknown as DocumentFilter<PersonDocument>
}

function createRoute({ stores }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/people',
    operationId: 'createPerson',
    tag,
    summary: 'Create a person who signs in by link',
    description:
      'People who sign in with OpenID Connect are created by their first sign-in. POST /v1/sign-in-links creates a link for a person.',
    scope: 'admin',
    body: NewPerson,
    answers: { 201: { description: 'The person; its version is the ETag', schema: Person } },
    refusals: ['not_found'],
    async handle({ body, principal, newId, now, change }) {
      await checkRoleProjects(stores, principal, body.roles)
      const roles = changeRoles([], body.roles)
      const person: PersonDocument = {
        _id: newId('person'),
        issuer: null,
        subject: null,
        name: body.name,
        email: body.email ?? null,
        roles,
        group_roles: [],
        project_ids: projectIdsOf(roles),
        disabled: false,
        last_sign_in_at: null,
        created_at: now,
        version: 1,
        updated_at: now,
      }
      await change(
        ({ people }) => people.put(person),
        (_, changes) => describeByProject('person.create', undefined, person, changes),
      )
      return { status: 201, body: showPerson(person, principal), headers: { etag: etagOf(person.version) } }
    },
  })
}

function changeRoute({ stores }: AdminParts): Route {
  return defineRoute({
    method: 'patch',
    path: '/v1/people/{id}',
    operationId: 'changePerson',
    tag,
    summary: 'Change the roles or the name of a person, or disable the person',
    description:
      'A role is changed by an admin of its project; name and `disabled` by those who administer all projects. A lowered role is enforced at once. If-Match is optional.',
    scope: 'admin',
    params: z.object({ id: z.string() }),
    body: PersonPatch,
    answers: { 200: { description: 'The changed person', schema: Person } },
    refusals: ['not_found', 'precondition_failed', 'conflict'],
    honoursIfMatch: true,
    async handle({ params, body, principal, ifMatch, now, change }) {
      await findPerson(stores, principal, params.id)
      await checkRoleProjects(stores, principal, body.roles ?? [])
      if (body.name !== undefined || body.disabled !== undefined) requireAllProjects(principal)
      const { after } = await change(
        async collections => {
          if (body.disabled === true) await endSessionsOf(collections, params.id, now)
          const before = await findPerson(collections, principal, params.id)
          const after = await changeVersioned({
            collection: collections.people,
            find: () => findPerson(collections, principal, params.id),
            ifMatch,
            now,
            what: `person ${params.id}`,
            next: person => changedFields(person, body),
          })
          return { before, after }
        },
        ({ before, after }, changes) => describeByProject('person.change', before, after, changes),
      )
      return { status: 200, body: showPerson(after, principal), headers: { etag: etagOf(after.version) } }
    },
  })
}

function changedFields(person: PersonDocument, { name, disabled, roles }: PersonPatch) {
  const assigned = changeRoles(person.roles, roles ?? [])
  return { name, disabled, roles: assigned, project_ids: projectIdsOf(assigned, person.group_roles) }
}

function removeRoute(): Route {
  return defineRoute({
    method: 'delete',
    path: '/v1/people/{id}',
    operationId: 'removePerson',
    tag,
    summary: 'Remove a person and end all sessions of the person',
    description:
      'Requires the scope `admin` in all projects. Somebody whom the OpenID Connect provider still knows is created again at the next sign-in, with the roles of the groups; `disabled` refuses every sign-in.',
    scope: 'admin',
    params: z.object({ id: z.string() }),
    answers: { 204: { description: 'The person is removed' } },
    refusals: ['not_found'],
    async handle({ params, principal, now, change }) {
      await change(
        async collections => {
          const person = await findPerson(collections, principal, params.id)
          requireAllProjects(principal)
          await endSessionsOf(collections, params.id, now)
          await collections.people.remove({ _id: params.id })
          return person
        },
        (person, changes) => describeByProject('person.remove', person, undefined, changes),
      )
      return { status: 204 }
    },
  })
}

/** @throws AppError `not_found` or `forbidden` if the principal may not give roles in one of the projects */
async function checkRoleProjects(
  stores: AdminParts['stores'],
  principal: Principal,
  roles: readonly { readonly project_id: string | null }[],
): Promise<void> {
  for (const { project_id } of roles) {
    if (project_id === null) requireAllProjects(principal)
    else {
      checkReach(principal, project_id, 'project', project_id)
      await findProject(stores, principal, project_id)
    }
  }
}

/** @throws AppError `forbidden` */
function requireAllProjects({ projectIds }: Principal): void {
  if (projectIds === null) return
  throw new AppError('forbidden', 'This requires the scope admin in all projects')
}

async function endSessionsOf({ sessions }: AdminCollections, personId: string, now: Date): Promise<void> {
  for (const { _id } of await sessions.findAll({ principal_id: personId, ended_at: null })) {
    await sessions.change({ _id }, { ended_at: now })
  }
}

/** Shows only the roles that count in a project of the principal. */
function showPerson(person: PersonDocument, { projectIds }: Pick<Principal, 'projectIds'>): Person {
  const { _id, name, email, disabled, issuer, last_sign_in_at, version } = person
  const { roles, group_roles } = projectIds === null ? person : rolesIn(person, [null, ...projectIds])
  return {
    person_id: _id,
    name,
    email,
    roles: [
      ...roles.map(role => ({ ...role, source: 'assigned' as const })),
      ...group_roles.map(role => ({ ...role, source: 'group' as const })),
    ],
    disabled,
    issuer,
    last_sign_in_at: last_sign_in_at?.toISOString() ?? null,
    version,
    created_at: person.created_at.toISOString(),
    updated_at: person.updated_at.toISOString(),
  }
}
