import type { PersonDocument } from '@backstop/contracts'
import type { Principal } from '../../access/rules/access.ts'
import { notFound } from '../../http/find-resource.ts'
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
