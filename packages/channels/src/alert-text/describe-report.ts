import type { ShownOperation } from '@backstop/contracts'
import type { AlertTexts } from './alert-description.ts'
import { capitalise, nounOfSubject } from './wording.ts'

/** What a person needs to know about an operation that only the customer's software knows. */
export function factsOfReport({ kind, subject }: Pick<ShownOperation, 'kind' | 'subject'>): AlertTexts['facts'] {
  const noun = nounOfSubject(kind)
  return [
    { label: capitalise(noun), value: subject },
    { label: 'Customer', value: `Your software does not say; look for the ${noun} in the provider's dashboard` },
  ]
}
