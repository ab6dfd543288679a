import { describe, expect, test } from 'vitest'
import { BILLER_EVENTS, BILLER_OBJECTS } from '../../test/samples/biller.ts'
import { CHARGEBACK, REFUNDED_NOTE } from '../../test/samples/biller-objects.ts'
import { PROCESSOR_OBJECTS } from '../../test/samples/processor.ts'
import { normaliseObject as normaliseProcessorObject } from '../processor/normalise.ts'
import { normaliseEvent, normaliseObject } from './normalise.ts'

const readFrom = { projectId: 'prj_1', connectionId: 'con_1', site: 'acme', readAt: 1_764_100_000_000 }
const { transaction, subscription } = BILLER_OBJECTS

function sightings(type: string, object: Record<string, unknown>, from = readFrom) {
  const meaning = normaliseObject(from, type, object)
  if (meaning.kind !== 'observed') throw new Error(`The object shows nothing: ${JSON.stringify(meaning)}`)
  return meaning.sightings
}

function hint(eventType: string, content: unknown) {
  return normaliseEvent({ projectId: 'prj_1', connectionId: 'con_1', eventId: 'ev_1', eventType }, { content })
}

describe("the hint of a biller's event", () => {
  test.each([
    {
      type: 'payment_refunded',
      targets: [
        { type: 'transaction', id: 'txn_16Aa' },
        { type: 'event', id: 'ev_1' },
      ],
    },
    { type: 'credit_note_created', targets: [{ type: 'credit_note', id: 'CN-204' }] },
    {
      type: 'subscription_cancelled',
      targets: [
        { type: 'subscription', id: 'sub-77' },
        { type: 'event', id: 'ev_1' },
      ],
    },
  ] as const)(
    '$type gives the ids of its objects, and of itself if it says by whom they were made',
    ({ type, targets }) => {
      expect(hint(type, BILLER_EVENTS[type].content)).toEqual({ kind: 'hint', targets })
    },
  )

  test.each([
    { name: 'one credit note', content: { credit_note: { id: 'CN-1' } }, ids: ['CN-1'] },
    {
      name: 'a list in the singular',
      content: { credit_note: [{ id: 'CN-1' }, { id: 'CN-2' }] },
      ids: ['CN-1', 'CN-2'],
    },
    { name: 'a list in the plural', content: { credit_notes: [{ id: 'CN-1' }] }, ids: ['CN-1'] },
    { name: 'the same twice', content: { credit_note: { id: 'CN-1' }, credit_notes: [{ id: 'CN-1' }] }, ids: ['CN-1'] },
    { name: 'a list with unreadable items', content: { credit_notes: [7, null, {}, { id: 'CN-1' }] }, ids: ['CN-1'] },
  ])('the end of a subscription with $name gives the credit notes too', ({ content, ids }) => {
    expect(hint('subscription_cancelled', { subscription: { id: 'sub-77' }, ...content })).toEqual({
      kind: 'hint',
      targets: [
        { type: 'subscription', id: 'sub-77' },
        ...ids.map(id => ({ type: 'credit_note', id })),
        { type: 'event', id: 'ev_1' },
      ],
    })
  })

  test('does not depend on the other content of the event', () => {
    const lies = { type: 'payment', status: 'failure', amount: 1, gateway: 'none', deleted: true }
    expect(hint('payment_refunded', { transaction: { id: 'txn_16Aa', ...lies } })).toEqual(
      hint('payment_refunded', { transaction }),
    )
  })
})

describe("the meaning of a biller's object", () => {
  test('a refund transaction is an action under its own id, within its site', () => {
    expect(sightings('transaction', transaction)).toEqual([
      {
        kind: 'action',
        action: 'refund',
        provider: 'subscription',
        identity: 'prj_1/subscription/acme/transaction/txn_16Aa',
        refs: [
          'prj_1/subscription/acme/sub-77',
          'prj_1/subscription/acme/INV-88',
          'prj_1/subscription/acme/txn_15Zz',
          'prj_1/subscription/acme/CN-204',
          'prj_1/subscription/acme/txn_16Aa',
          'prj_1/processor/re_3Q',
        ],
        objectIds: ['sub-77', 'INV-88', 'txn_15Zz', 'CN-204'],
        subject: 'sub-77',
        providerRef: 'txn_16Aa',
        gatewayRefs: ['re_3Q'],
        creditNoteIds: ['CN-204'],
        amount: 2499,
        currency: 'eur',
        state: 'succeeded',
        stateVersion: transaction.resource_version,
        createdAt: 1_764_000_199_000,
        made: { at: null, by: 1_764_000_199_000 },
        idempotencyKey: null,
        details: expect.any(Object),
      },
    ])
  })

  test('a chargeback that is recorded as a refund is a dispute about the same payment, and no refund at the gateway', () => {
    const [refund] = sightings('transaction', transaction)
    const [chargeback] = sightings('transaction', CHARGEBACK)
    expect(chargeback).toMatchObject({ kind: 'record', record: 'dispute', providerRef: 'txn_16Cb', state: 'succeeded' })
    expect(chargeback).toMatchObject({ objectIds: ['sub-77', 'INV-88', 'txn_15Zz', 'CN-205'], subject: 'sub-77' })
    expect(chargeback?.identity.replace('txn_16Cb', 'txn_16Aa')).toBe(refund?.identity)
    expect(chargeback?.refs.filter(ref => ref.includes('/processor/'))).toEqual([])
  })

  test('a refund shares a reference with the same refund at the card processor, in its own project only', () => {
    const from = { ...readFrom, site: null }
    const atGateway = normaliseProcessorObject(from, 'refund', PROCESSOR_OBJECTS.refund)
    const refs = atGateway.kind === 'observed' ? (atGateway.sightings[0]?.refs ?? []) : []
    const common = (projectId: string) =>
      sightings('transaction', transaction, { ...readFrom, projectId })[0]?.refs.filter(ref => refs.includes(ref))
    expect(common('prj_1')).toEqual(['prj_1/processor/re_3Q'])
    expect(common('prj_2')).toEqual([])
  })

  test('the same ids on another site are other objects', () => {
    const [here, there] = ['acme', 'acme-test'].map(site =>
      sightings('subscription', subscription, { ...readFrom, site }).flatMap(one => [one.identity, ...one.refs]),
    )
    expect(here?.filter(name => there?.includes(name))).toEqual([])
  })

  test('a refund has the same identity in its credit note and in its transaction', () => {
    const [throughNote, credit] = sightings('credit_note', REFUNDED_NOTE)
    const [itself] = sightings('transaction', transaction)
    expect(throughNote).toMatchObject({
      kind: 'action',
      identity: itself?.identity,
      providerRef: 'txn_16Aa',
      creditNoteIds: ['CN-204'],
      subject: 'sub-77',
      amount: 2499,
      currency: 'eur',
      createdAt: 1_764_000_199_000,
    })
    expect(credit).toMatchObject({ kind: 'record', record: 'credit', providerRef: 'CN-204' })
  })

  test('a refund of two credit notes has its whole amount in each of them', () => {
    const half = { ...REFUNDED_NOTE.linked_refunds[0], applied_amount: 999 }
    expect(sightings('credit_note', { ...REFUNDED_NOTE, linked_refunds: [half] })[0]).toMatchObject({ amount: 2499 })
  })

  test('a subscription is a state with the time of its version', () => {
    const scheduled = {
      ...subscription,
      status: 'non_renewing',
      cancelled_at: 1_766_600_000,
      cancel_schedule_created_at: 1_764_000_300,
      resource_version: 1_764_000_300_500,
    }
    expect(sightings('subscription', scheduled)[0]).toMatchObject({
      identity: 'prj_1/subscription/acme/subscription/sub-77',
      asOf: 1_764_000_300_500,
      cancellation: {
        phase: 'scheduled',
        requestedAt: 1_764_000_300_000,
        effectiveAt: 1_766_600_000_000,
        cause: 'requested',
        detail: null,
      },
    })
  })

  test.each([
    { name: 'its version', fields: { resource_version: 1_764_000_100_000 }, asOf: 1_764_000_100_000 },
    {
      name: 'its time of change',
      fields: { resource_version: undefined, updated_at: 1_764_000_200 },
      asOf: 1_764_000_200_000,
    },
    { name: 'the reading', fields: { resource_version: undefined, updated_at: undefined }, asOf: readFrom.readAt },
  ])('a subscription is as of $name', ({ fields, asOf }) => {
    expect(sightings('subscription', { ...subscription, ...fields })[0]).toMatchObject({ asOf })
  })
})
