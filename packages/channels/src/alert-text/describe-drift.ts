import type { Alert } from '@backstop/contracts'
import type { AlertTexts } from './alert-description.ts'
import { factsOfAction, isTest, providerUrlOf } from './describe-action.ts'
import { capitalise, listIds, nameAccount, nameAction, nounOfSubject } from './wording.ts'

/** Describes how the provider's data differs from what the customer's software reported. */
export function describeDrift({
  data: { operation, action, differences, names },
}: Extract<Alert, { event: 'drift.detected' }>): AlertTexts {
  const what = nameAction(operation)
  const noun = nounOfSubject(operation.kind)
  const isMissing = differences.some(({ field }) => field === 'existence')
  const title = isMissing ? `The provider does not know a ${what}` : `The provider's data differs on a ${what}`
  return {
    title: action !== null && isTest(action) ? `[Test mode] ${title}` : title,
    summary: isMissing
      ? `Your software reported a ${what} as done, but the provider does not have it. The customer may still wait for it.`
      : `Your software reported a ${what}, but the provider recorded something else.`,
    facts: [
      ...differences
        .filter(({ field }) => field !== 'existence')
        .map(({ field, operation_says, provider_says }) => ({
          label: capitalise(field === 'subject' ? noun : field),
          value: `${operation_says} reported, ${provider_says} at the provider`,
        })),
      ...(action === null
        ? [
            { label: 'What', value: capitalise(what) },
            { label: capitalise(noun), value: operation.subject },
            { label: 'Account', value: nameAccount(operation.provider, names, operation.connection_id) },
          ]
        : factsOfAction(action, names).filter(({ label }) => label !== 'What')),
      ...(operation.run_id === null ? [] : [{ label: 'Run', value: operation.run_id }]),
    ],
    next: isMissing
      ? {
          sentence: 'Check with your developers before anybody makes it again.',
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
    ids: listIds({
      operation: operation.operation_id,
      [noun]: operation.subject,
      [operation.kind]: action?.provider_ref ?? operation.provider_ref,
      customer: action?.customer?.id,
    }),
  }
}
