import type { Deed } from '../../actors/truth.ts'
import type { Case } from '../evidence.ts'
import type { Property } from '../property.ts'

/** What the lists of a project show of other projects. */
export const PROJECT_PROPERTIES: readonly Property[] = [
  { name: 'lists-stay-in-their-project', promise: 'projects-are-apart', check: findForeignRecords },
]

/** Numbers such as CN-204 are unique in one account only; longer ids are unique among all. */
const LEAST_UNIQUE_LENGTH = 12

/** No record of a project names anything of another project. */
function findForeignRecords({ evidence: { projects }, truth }: Case): string[] {
  return projects.flatMap(({ projectId, ...lists }) => {
    const text = JSON.stringify(lists)
    const foreign = projects.filter(other => other.projectId !== projectId && text.includes(other.projectId))
    const named = truth.deeds.filter(deed => deed.projectId !== projectId && isUnique(deed) && text.includes(deed.ref))
    return [
      ...foreign.map(other => `The lists of ${projectId} name the project ${other.projectId}`),
      ...named.map(({ ref }) => `The lists of ${projectId} show ${ref} of another project`),
    ]
  })
}

function isUnique({ ref }: Deed): boolean {
  return ref.length >= LEAST_UNIQUE_LENGTH
}
