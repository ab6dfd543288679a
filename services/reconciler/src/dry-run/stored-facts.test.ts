import type { Case } from '@backstop/verdict'
import {
  emptyCase,
  lookAll,
  MINUTE,
  play,
  refundShown,
  SECOND,
  scheduledCancellation,
  sightingInput,
  subscriptionShown,
  T0,
} from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import { storedFacts } from './stored-facts.ts'

const reasons = (theCase: Case) =>
  lookAll(theCase).actions.map(({ kind, state, reason }) => `${kind} ${state} ${reason}`)

const managed = { kind: 'subscription', scheduleId: 'sub_sched_1' } as const
const schedule = { kind: 'schedule', scheduleId: 'sub_sched_1', phaseEnds: [] } as const

test.each([
  { name: 'an expired authorization', shown: [refundShown({ isExpiredAuthorization: true })] },
  {
    name: 'an end that a schedule causes, which the subscription does not show',
    shown: [
      { ...scheduledCancellation(T0), source: schedule },
      { ...subscriptionShown({ asOf: T0 + 9 * SECOND }), source: managed },
    ],
  },
])('$name is read back unchanged', ({ shown }) => {
  const theCase = play(shown.map(one => ({ at: T0 + MINUTE, input: sightingInput(one) })))
  const again = storedFacts(theCase, []).flatMap(({ sightings, sources }) =>
    sightings.flatMap(sighting =>
      sources.map(source => ({ at: T0 + MINUTE, input: { kind: 'sighting', sighting, source } as const })),
    ),
  )
  expect(reasons(play(again, emptyCase()))).toEqual(reasons(theCase))
})
