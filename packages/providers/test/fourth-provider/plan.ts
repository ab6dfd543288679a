import { z } from 'zod'
import { nameObject, type ObjectMeaning, reading, Text, UnixTime } from '../../src/object-fields.ts'
import type { CancellationState, ObservedSubscription, PauseState } from '../../src/sighting.ts'
import { KIND } from './kind.ts'

export const Plan = z.object({
  id: Text,
  state: Text,
  ends: UnixTime.nullable(),
  changed: UnixTime,
})
type Plan = z.infer<typeof Plan>

export const meaningOfPlan: ObjectMeaning = (context, object) =>
  reading('plan', Plan, object, plan => {
    const sighting: ObservedSubscription = {
      kind: 'subscription',
      ...nameObject(context, KIND, 'plan', plan.id, [plan.id]),
      asOf: plan.changed,
      cancellation: cancellationOf(plan),
      pause: pauseOf(plan),
      before: null,
      idempotencyKey: null,
    }
    return { kind: 'observed', sightings: [sighting] }
  })

/** The wallet gives neither the time nor the reason of the request for an end. */
function cancellationOf({ state, ends }: Plan): CancellationState {
  const phase = state === 'ended' ? 'executed' : ends === null ? 'none' : 'scheduled'
  return { phase, requestedAt: null, effectiveAt: ends, cause: 'requested', detail: null }
}

function pauseOf({ state, changed }: Plan): PauseState {
  return state === 'paused' ? { phase: 'paused', effectiveAt: changed } : { phase: 'none', effectiveAt: null }
}
