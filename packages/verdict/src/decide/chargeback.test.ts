import { describe, expect, test } from 'vitest'
import { alertsOf, CONNECTION, lookAll, MINUTE, onlyAction, play, policy, T0 } from '../../test/fixtures.ts'
import { recordShown, refundShown, sightingInput } from '../../test/sightings.ts'

/** One transaction of the biller. A credit note shows it too. */
const about = { provider: 'subscription', providerRef: 'txn_1', about: ['sub_1'] } as const
const throughNote = sightingInput(refundShown(about), { eventId: 'note' })
const {
  gatewayRefs: _none,
  idempotencyKey: _key,
  action: _refund,
  ...shown
} = refundShown({ ...about, stateVersion: 2 })
const itself = sightingInput({ ...shown, kind: 'record', record: 'dispute' }, { eventId: 'transaction' })
const policies = [policy({ provider: 'subscription', canRead: false })]
const signed = refundShown({ providerRef: 're_1', about: ['pi_1'] })

describe('a refund whose own transaction says that it is a dispute', () => {
  test.each([
    { name: 'the credit note first', inputs: [throughNote, itself] },
    { name: 'the transaction first', inputs: [itself, throughNote] },
    { name: 'the credit note once more', inputs: [throughNote, itself, throughNote] },
  ])('is a dispute and does not alert: $name', ({ inputs }) => {
    const seen = play(inputs.map((input, index) => ({ at: T0 + index * 1_000, input })))
    const theCase = lookAll(seen, policies)
    expect(onlyAction(theCase)).toMatchObject({
      kind: 'dispute',
      verdict: 'not_alerted',
      reason: 'kind_is_not_judged',
      providerRef: 'txn_1',
      amount: 2499,
    })
    expect(alertsOf(theCase)).toEqual([])
  })

  test('resolves the alert that was sent before its transaction was read', () => {
    const asSigned = sightingInput(refundShown({ ...about, provider: 'reseller' }), { eventId: 'note' })
    const {
      gatewayRefs: _refs,
      idempotencyKey: _no,
      action: _made,
      ...same
    } = refundShown({ ...about, provider: 'reseller' })
    const alerted = lookAll(play([{ at: T0, input: asSigned }]), [policy({ provider: 'reseller' })])
    expect(alertsOf(alerted)).toEqual(['incident.opened'])
    const input = sightingInput(
      { ...same, kind: 'record', record: 'dispute', stateVersion: 2 },
      { eventId: 'transaction' },
    )
    const after = play([{ at: T0 + 2 * MINUTE, input }], alerted)
    expect(onlyAction(after)).toMatchObject({ kind: 'dispute', incidents: [{ state: 'resolved' }] })
  })
})

test('a refund at the gateway is judged, even if its biller records a dispute of the same payment', () => {
  const gateway = sightingInput(signed, { connection: { id: CONNECTION, createdAt: T0 - MINUTE } })
  const names = { refs: [...signed.refs], subject: 'pi_1', objectIds: ['pi_1'] }
  const recorded = sightingInput({ ...recordShown('dispute', 'txn_9'), ...names }, { eventId: 'recorded' })
  const theCase = lookAll(play([gateway, recorded].map(input => ({ at: T0, input }))))
  expect(theCase.actions.map(({ kind, verdict }) => `${kind} ${verdict}`).sort()).toEqual([
    'dispute not_alerted',
    'refund unexplained',
  ])
})
