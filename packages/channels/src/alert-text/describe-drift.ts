import type { Alert } from '@backstop/contracts'
import type { AlertTexts } from './alert-description.ts'
import { factsOfSubject, providerUrlOf, titleOfAction } from './describe-action.ts'
import { factsOfReport } from './describe-ledger-alert.ts'
import { capitalise, factsIn, joinWords, nameAction, nounOfSubject, oneLineOrNull, titleWith } from './wording.ts'

/** Describes how the provider's data differs from what the customer's software reported. */
export function describeDrift(
  { data: { operation, action, differences, names } }: Extract<Alert, { event: 'drift.detected' }>,
  nowMs: number,
): AlertTexts {
  const what = nameAction(operation)
  const noun = nounOfSubject(operation.kind)
  const isMissing = differences.some(({ field }) => field === 'existence')
  const title = isMissing ? `Not at the provider: ${what}` : `Different at the provider: ${what}`
  return {
    title: action === null ? titleWith(title, names?.connection) : titleOfAction(title, action, names),
    summary: isMissing
      ? `Your software reported a ${what} as done, but the provider does not have it. The customer may still wait for it.`
      : `Your software reported a ${what}, but the provider has another ${joinWords(differences.map(({ field }) => (field === 'subject' ? noun : field)))}.`,
    facts: [
      ...differences
        .filter(({ field }) => field !== 'existence')
        .map(({ field, operation_says, provider_says }) => ({
          label: capitalise(field === 'subject' ? noun : field),
          value: `Your software reported ${operation_says}; the provider has ${provider_says}`,
        })),
      ...(action === null ? factsOfReport(operation) : factsOfSubject(action, nowMs)),
      ...factsIn([['Run of your software', oneLineOrNull(operation.run_id)]]),
    ],
    next: isMissing
      ? {
          sentence: `Check this before anybody makes the ${operation.kind} again.`,
          steps: [
            `Look at the ${noun} in the provider's dashboard: is the ${operation.kind} there?`,
            `If it is not: ask your developers why their software reported it as done, and then make the ${operation.kind} again.`,
          ],
        }
      : {
          sentence: 'Decide which of the two is right, and correct the other one.',
          steps: [
            `Compare the ${noun} in the provider's dashboard with what the customer was promised.`,
            'Show this message to the developers of the software that reported it.',
          ],
        },
    tone: 'alarm',
    providerUrl: action === null ? null : providerUrlOf(action),
    reference: operation.operation_id,
  }
}
