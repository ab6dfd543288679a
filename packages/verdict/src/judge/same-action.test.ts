import { describe, expect, test } from 'vitest'
import { alertsOf, CONNECTION, lookAll, MINUTE, operationSeen, play, policy, T0 } from '../../test/fixtures.ts'
import { refundShown, sightingInput } from '../../test/sightings.ts'
import type { Case } from '../case/case.ts'
import type { Input } from '../decide/decide.ts'
import { projectActions, projectIncidents } from '../show/projection.ts'

const through = (id: string) => ({ connection: { id, createdAt: T0 - 60 * MINUTE } })
const atGateway = sightingInput(refundShown({ providerRef: 're_1', about: ['pi_1'] }), through(CONNECTION))
const biller = { provider: 'subscription', providerRef: 'txn_1', about: ['sub_1'] } as const
const linked = sightingInput(refundShown({ ...biller, gatewayRefs: ['re_1'], stateVersion: 2 }), {
  ...through('con_s'),
  eventId: 'linked',
})
const unlinked = sightingInput(refundShown({ ...biller, stateVersion: 1 }), {
  ...through('con_s'),
  eventId: 'unlinked',
})

const policies = [policy(), policy({ connectionId: 'con_s', provider: 'subscription' })]
const playAll = (...inputs: Input[]) => play(inputs.map(input => ({ at: T0 + MINUTE, input })))
const lookThroughBoth = (theCase: Case) => lookAll(theCase, [policy(), policy({ connectionId: 'con_t' })])

describe('a refund that the biller made through its gateway', () => {
  test.each([
    { name: 'the gateway first', inputs: [atGateway, linked] },
    { name: 'the biller first', inputs: [linked, atGateway] },
    { name: 'the link last', inputs: [unlinked, atGateway, linked] },
    { name: 'the link last, the gateway first', inputs: [atGateway, unlinked, linked] },
  ])('is one action with both connections: $name', ({ inputs }) => {
    const theCase = playAll(...inputs)
    expect(theCase.actions).toHaveLength(1)
    expect(theCase.actions[0]).toMatchObject({ provider: 'processor', providerRef: 're_1', subject: 'pi_1' })
    expect(theCase.actions[0]?.seenThrough.map(({ id }) => id).sort()).toEqual([CONNECTION, 'con_s'])
    expect(theCase.actions[0]?.objectIds).toEqual(['pi_1', 'sub_1'])
  })

  test('is explained by an operation at either provider', () => {
    for (const made of [
      { provider: 'processor', subject: 'pi_1', provider_ref: 're_1' },
      { provider: 'subscription', subject: 'sub_1', provider_ref: 'txn_1' },
    ] as const) {
      expect(playAll(operationSeen(made), linked, atGateway).actions).toMatchObject([{ verdict: 'explained' }])
    }
  })

  test('is no drift for an operation at the gateway if only the biller has shown it', () => {
    const made = operationSeen({ subject: 'pi_1', provider_ref: 're_1' })
    const early = playAll(made, linked)
    expect(early.actions).toMatchObject([{ verdict: 'explained', differences: [] }])
    expect(alertsOf(play([{ at: T0 + MINUTE, input: atGateway }], early))).toEqual([])
    const wrong = playAll(operationSeen({ subject: 'pi_2', provider_ref: 're_1' }), linked)
    expect(alertsOf(play([{ at: T0 + MINUTE, input: atGateway }], wrong))).toEqual(['drift.detected'])
  })

  test('with two alerts keeps one incident; the other one is resolved and refers to it', () => {
    const signed = (input: Input) => ({
      ...input,
      source: { ...through('con_t'), eventId: 't', eventType: 'x', readFor: null },
    })
    const apart = lookThroughBoth(
      playAll(atGateway, signed(sightingInput(refundShown({ ...biller, provider: 'reseller' }))) as Input),
    )
    expect(alertsOf(apart)).toEqual(['incident.opened', 'incident.opened'])
    const link = refundShown({ ...biller, provider: 'reseller', gatewayRefs: ['re_1'], stateVersion: 2 })
    const joined = play(
      [{ at: T0 + 9 * MINUTE, input: sightingInput(link, { ...through('con_t'), eventId: 'l' }) }],
      apart,
    )
    expect(joined.actions).toHaveLength(1)
    expect(joined.actions[0]?.incidents.map(({ state }) => state).sort()).toEqual(['open', 'resolved'])
    expect(alertsOf(joined)).toEqual(['incident.opened', 'incident.opened', 'incident.resolved'])
    const merged = projectActions(joined).filter(({ mergedInto }) => mergedInto !== null)
    expect(merged.map(({ mergedInto }) => mergedInto)).toEqual([joined.actions[0]?.id])
    expect(new Set(projectIncidents(joined).map(({ incident }) => incident.action_id))).toEqual(
      new Set([joined.actions[0]?.id]),
    )
  })

  test('does not alert twice if the second provider shows it after the first alert', () => {
    const alerted = lookAll(playAll(atGateway), policies)
    const both = lookAll(play([{ at: T0 + 9 * MINUTE, input: linked }], alerted), policies)
    expect(alertsOf(both)).toEqual(['incident.opened'])
    expect(both.actions).toMatchObject([{ verdict: 'unexplained' }])
  })

  test('that one connection ignores gets a second look if a stricter connection shows it too', () => {
    const settings = [policy({ outOfBand: 'ignore' }), policy({ connectionId: 'con_q' })]
    const ignored = lookAll(playAll(atGateway), settings)
    expect(ignored.actions).toMatchObject([{ verdict: 'not_alerted', reason: 'out_of_band_ignore' }])
    const other = sightingInput(refundShown(), { ...through('con_q'), eventId: 'q' })
    const seenTwice = play([{ at: T0 + 9 * MINUTE, input: other }], ignored)
    expect(seenTwice.actions).toMatchObject([{ verdict: 'pending' }])
    expect(alertsOf(lookAll(seenTwice, settings))).toEqual(['incident.opened'])
  })
})

test('a pending look is taken on time, even if its record was merged', () => {
  const madeLater = { ...through('con_s'), connection: { id: 'con_s', createdAt: T0 + 60 * MINUTE } }
  const before = sightingInput(refundShown({ ...biller, stateVersion: 1 }), { ...madeLater, eventId: 'before' })
  const link = sightingInput(refundShown({ ...biller, gatewayRefs: ['re_1'], stateVersion: 2 }), {
    ...madeLater,
    eventId: 'link',
  })
  const theCase = play([before, atGateway, link].map((input, index) => ({ at: T0 + index * 1_000, input })))
  expect(theCase.actions).toMatchObject([{ verdict: 'pending', look: { dueAt: T0 + 1_000 + MINUTE } }])
  const [looks] = theCase.outbox.filter(({ topic }) => topic === 'rechecks').slice(-1)
  expect(looks?.message).toMatchObject({
    look_id: theCase.actions[0]?.id,
    due_at: new Date(T0 + 1_000 + MINUTE).toISOString(),
  })
})
