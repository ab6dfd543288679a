import { NewPerson, Person, type PersonDocument, PersonPatch, PersonQuery } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { Principal } from '../../access/rules/access.ts'
import { changeRoles, projectIdsOf, rolesIn } from '../../access/rules/roles.ts'
import { changeVersioned } from '../../http/change-document.ts'
import { checkReach, findProject, projectFilterOf } from '../../http/find-resource.ts'
import { itemRoute, listRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route, versionedAnswer } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { showDocument } from '../../rules/show-document.ts'
import type { DocumentFilter } from '../../store/collection.ts'
import type { AdminCollections } from '../../store/stores.ts'
import { describeByProject, findPerson } from './person.ts'

const tag = 'People'

/** /v1/people */
export function peopleRoutes(parts: AdminParts): Route[] {
  const { stores } = parts
  const resource = {
    path: '/v1/people',
    tag,
    scope: 'admin',
    schema: Person,
    show: (person: PersonDocument, { principal }: { readonly principal: Principal }) => showPerson(person, principal),
  } as const
  return [
    createRoute(parts),
    listRoute({
      ...resource,
      operationId: 'listPeople',
      summary: 'List people with their roles, newest first',
      items: 'people',
      query: PersonQuery,
      collection: stores.people,
      sortedBy: 'created_at',
      narrow: ({ principal, query }) => peopleOf(projectFilterOf(principal, query.project_id).project_id),
    }),
    itemRoute({
      ...resource,
      path: '/v1/people/{id}',
      operationId: 'getPerson',
      summary: 'Get a person',
      item: 'person',
      isVersioned: true,
      find: ({ params, principal }) => findPerson(stores, principal, params.id),
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
      return versionedAnswer(201, showPerson(person, principal))
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
    body: PersonPatch,
    answers: { 200: { description: 'The changed person', schema: Person } },
    honoursIfMatch: true,
    async handle({ params, body, principal, ifMatch, now, change }) {
      await findPerson(stores, principal, params.id)
      await checkRoleProjects(stores, principal, body.roles ?? [])
      if (body.name !== undefined || body.disabled !== undefined) requireAllProjects(principal)
      const { after } = await change(
        async collections => {
          if (body.disabled === true) await endSessionsOf(collections, params.id, now)
          const before = await findPerson(collections, principal, params.id)
          const after = await changeVersioned(
            { ifMatch, now },
            {
              collection: collections.people,
              find: async () => before,
              what: `person ${params.id}`,
              next: person => changedFields(person, body),
            },
          )
          return { before, after }
        },
        ({ before, after }, changes) => describeByProject('person.change', before, after, changes),
      )
      return versionedAnswer(200, showPerson(after, principal))
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
    answers: { 204: { description: 'The person is removed' } },
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
  const { roles, group_roles } = projectIds === null ? person : rolesIn(person, [null, ...projectIds])
  return showDocument(Person, person, {
    person_id: person._id,
    roles: [
      ...roles.map(role => ({ ...role, source: 'assigned' as const })),
      ...group_roles.map(role => ({ ...role, source: 'group' as const })),
    ],
  })
}
