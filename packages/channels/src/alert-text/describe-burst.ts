import type { Alert, Burst, Incident, IncidentEvent } from '@backstop/contracts'
import type { IncidentText } from './describe-fault.ts'
import {
  commonCustomer,
  describePlace,
  durationOf,
  type Many,
  manyOf,
  nameActions,
  sentenceOfOrigin,
  sharedFacts,
  sumOf,
} from './describe-many.ts'
import { nextStepsOfBurst } from './next-steps.ts'
import { clockTime } from './times.ts'
import { factsIn, lowerFirst, toOneLine } from './wording.ts'

type IncidentData = Extract<Alert, { event: IncidentEvent }>['data']

const END_WORDS = {
  explained: 'is over',
  confirmed: 'continues as a storm',
  unknown: 'still waits for its second looks',
} as const

/** True if all money of the burst is test money. */
export function isTestBurst({ money }: Burst): boolean {
  return money.length > 0 && money.every(({ mode }) => mode === 'test')
}

/** The texts of an incident UNEXPLAINED_BURST: many actions that nothing explains so far, before their second looks. */
export function describeBurst({ incident, names }: IncidentData, burst: Burst): IncidentText {
  const many = manyOf(burst)
  const where = describePlace(many, toOneLine(names?.connection ?? incident.connection_id ?? 'the connection'))
  return {
    opened: `Burst: ${nameActions(many, 'unexplained ')} on ${where} ${durationOf(burst)}${sumOf(many)}`,
    resolved: `the burst of ${nameActions(many)} on ${where} ${END_WORDS[burst.outcome ?? 'unknown']}`,
    summary: summaryOf(incident, burst, many),
    facts: factsIn([...sharedFacts(many, commonCustomer(many)), ['When', burst.first_at]]),
    next: nextStepsOfBurst(burst),
  }
}

function summaryOf({ resolution, state }: Incident, { outcome, looks_at, last_at }: Burst, many: Many): string {
  const end = resolution == null ? null : lowerFirst(toOneLine(resolution))
  if (outcome === 'confirmed') {
    return `The second looks confirmed the alarm${end === null ? '' : `: ${end}`}. The incidents of its storm are open.`
  }
  if (state === 'resolved' && end !== null) return `The alarm is over: ${end}.`
  return `Nothing explains them so far. ${sentenceOfOrigin(many)} Backstop looks again from ${clockTime(looks_at, last_at)}.`
}
