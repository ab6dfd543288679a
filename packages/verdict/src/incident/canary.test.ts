import { describe, expect, test } from 'vitest'
import { contextAt, emptyCase, MINUTE, operation, PROJECT, refundSeen, SECOND, T0 } from '../../test/fixtures.ts'
import type { Case } from '../case/case.ts'
import type { Canaries } from '../case/decision-context.ts'
import { decide, type Input } from '../decide/decide.ts'

const CANARIES: Canaries = new Map([['acr_canary', T0 - MINUTE]])

/** A refund that this actor made. */
function refundBy(actorId: string | null, id = 're_1'): Input {
  const seen = refundSeen({ id })
  if (seen.kind !== 'sighting' || seen.sighting.kind !== 'action' || actorId === null) return seen
  const actor = { id: actorId, kind: 'api_key' } as const
  const origin = { channel: 'api', key_name: 'backup', user: null, request_id: null, idempotency_key: null } as const
  return { ...seen, sighting: { ...seen.sighting, details: { ...seen.sighting.details, origin, actor } } }
}

const play = (inputs: readonly Input[], canaries: Canaries | undefined = CANARIES, at = T0) =>
  inputs.reduce<Case>(
    (known, input, index) => decide(known, input, { ...contextAt(at + index * SECOND), ...(canaries && { canaries }) }),
    emptyCase(),
  )
const codes = ({ actions }: Case) =>
  actions.flatMap(({ incidents }) => incidents.map(({ code, state }) => [code, state]))

describe('an action of a canary', () => {
  test('opens CANARY_USED at its first sight, once, and its second look is still due', () => {
    const known = play([refundBy('acr_canary'), refundBy('acr_canary'), refundBy('acr_canary')])
    expect(codes(known)).toEqual([['CANARY_USED', 'open']])
    expect(known.actions).toMatchObject([{ verdict: 'pending', incidents: [{ openedAt: T0, outOfBand: null }] }])
  })

  test('opens it also if an operation explains the action, and no explanation resolves it', () => {
    const ours = operation({ operation_id: 'op_1', provider_ref: 're_1', project_id: PROJECT })
    const known = play([{ kind: 'operation', operation: ours }, refundBy('acr_canary')])
    expect(known.actions).toMatchObject([{ verdict: 'explained' }])
    expect(codes(known)).toEqual([['CANARY_USED', 'open']])
    const later = play([refundBy('acr_canary'), { kind: 'operation', operation: ours }])
    expect(later.actions).toMatchObject([{ verdict: 'explained' }])
    expect(codes(later)).toEqual([['CANARY_USED', 'open']])
  })

  test('opens one for each action', () => {
    expect(codes(play([refundBy('acr_canary'), refundBy('acr_canary', 're_2')]))).toHaveLength(2)
  })

  test('opens none for an action that was seen before the actor became a canary', () => {
    const [first, again] = [refundBy('acr_canary'), refundBy('acr_canary')]
    const seen = play([first], new Map())
    const after = { ...contextAt(T0 + MINUTE), canaries: new Map([['acr_canary', T0 + SECOND]]) }
    expect(codes(decide(seen, again, after))).toEqual([])
  })

  test('opens it later if the role was not known at the first sight', () => {
    const seen = play([refundBy('acr_canary')], new Map())
    expect(codes(seen)).toEqual([])
    expect(codes(decide(seen, refundBy('acr_canary'), { ...contextAt(T0 + SECOND), canaries: CANARIES }))).toHaveLength(
      1,
    )
  })
})

test.each([
  ['another actor', 'acr_other'],
  ['nobody', null],
])('an action of %s opens no CANARY_USED', (_name, id) => {
  expect(codes(play([refundBy(id)]))).toEqual([])
})
