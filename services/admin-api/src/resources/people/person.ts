import type { AuditedField, PersonDocument } from '@backstop/contracts'
import type { Principal } from '../../access/rules/access.ts'
import { projectIdsOf, rolesIn } from '../../access/rules/roles.ts'
import { listChangedFields } from '../../http/changed-fields.ts'
import { notFound } from '../../http/find-resource.ts'
import type { AuditedChange } from '../../http/route.ts'
import type { ReadCollections } from '../../store/stores.ts'

/**
 * Finds a person with a role in a project of the principal.
 * @throws AppError `not_found`
 */
export async function findPerson(
  { people }: Pick<ReadCollections, 'people'>,
  { projectIds }: Principal,
  id: string,
): Promise<PersonDocument> {
  const person = await people.find({ _id: id })
  const isVisible =
    projectIds === null || person?.project_ids.some(project => project === '*' || projectIds.includes(project))
  if (person === undefined || !isVisible) throw notFound('person', id)
  return person
}

/**
 * Describes the change of a person by one audit row for each project that it affects. The row of a project shows only the roles in it,
 * because its admins may not know the other projects of the person.
 * @param before undefined if the person is new
 * @param after undefined if the person is removed
 * @param changes all written changes, also of sessions
 */
export function describeByProject(
  action: string,
  before: PersonDocument | undefined,
  after: PersonDocument | undefined,
  changes: readonly AuditedField[],
): readonly AuditedChange[] {
  const target = (after ?? before)?._id ?? ''
  const others = changes.filter(({ resource }) => resource !== target)
  const projectIds = new Set([...(before?.project_ids ?? []), ...(after?.project_ids ?? [])])
  const rows = [...projectIds].flatMap(listed => {
    const projectId = listed === '*' ? null : listed
    const fields = listChangedFields(target, narrow(before, projectId), narrow(after, projectId))
    return fields.length === 0 ? [] : [{ action, target, projectId, changes: [...fields, ...others] }]
  })
  return rows.length > 0 ? rows : [{ action, target, projectId: null }]
}

function narrow(person: PersonDocument | undefined, projectId: string | null): object | undefined {
  if (person === undefined) return undefined
  const own = rolesIn(person, [projectId])
  return { ...person, ...own, project_ids: projectIdsOf(own.roles, own.group_roles) }
}
