import type { Names, ShownOperation } from '@backstop/contracts'
import type { AlertTexts } from './alert-description.ts'
import { capitalise, factsIn, nameAccount, nounOfSubject } from './wording.ts'

/** What a person needs to know about an operation that only the customer's software knows. */
export function factsOfReport(operation: ShownOperation, names: Names | undefined): AlertTexts['facts'] {
  const { kind, subject, provider, connection_id } = operation
  const noun = nounOfSubject(kind)
  return factsIn([
    [capitalise(noun), subject],
    ['Customer', `Your software does not say; look for the ${noun} in the provider's dashboard`],
    ['Account', nameAccount(provider, names, connection_id)],
  ])
}
