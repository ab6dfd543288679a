import { type ObjectState, ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { detailsOf, shownText } from '../../details.ts'
import {
  CurrencyCode,
  Detail,
  helpful,
  MinorUnits,
  nameObject,
  type ObjectMeaning,
  reading,
  stateIn,
  UnixTime,
} from '../../object-fields.ts'
import type { ObservedAction, ObservedRecord } from '../../sighting.ts'
import { type BillerContext, customerOf, modeOf, pageOf } from './details.ts'
import { stateOfTransaction } from './transaction.ts'
import { Version, versionOf } from './version.ts'

const LinkedRefund = z.object({
  txn_id: ProviderId,
  txn_amount: helpful(MinorUnits),
  applied_amount: helpful(MinorUnits),
  txn_status: helpful(z.string()),
  txn_date: helpful(UnixTime),
  applied_at: helpful(UnixTime),
  refund_reason_code: Detail,
})
type LinkedRefund = z.infer<typeof LinkedRefund>

export const CreditNote = Version.extend({
  id: ProviderId,
  type: helpful(z.string()),
  status: helpful(z.string()),
  reason_code: helpful(z.string()),
  total: helpful(MinorUnits),
  currency_code: CurrencyCode.nullish(),
  date: helpful(UnixTime),
  subscription_id: helpful(ProviderId),
  reference_invoice_id: helpful(ProviderId),
  customer_id: Detail,
  create_reason_code: Detail,
  linked_refunds: z.array(LinkedRefund).nullish(),
  deleted: helpful(z.boolean()),
})
type DatedNote = z.infer<typeof CreditNote> & { readonly date: number }

/**
 * Normalises a credit note. It is a credit that lowers an unpaid invoice, stays in the customer's balance, or is refunded later.
 * Each of its refunds is a separate action, identified by its transaction and not by the note.
 */
export const meaningOfCreditNote: ObjectMeaning<BillerContext> = (context, object) =>
  reading('credit_note', CreditNote, object, parsed => {
    const date = parsed.date ?? context.shownAt
    if (date === null) return { kind: 'malformed', reason: 'credit_note.date: No time is given' }
    const note = { ...parsed, date }
    const refunds = (note.linked_refunds ?? []).map(linked => refundOf(context, note, linked))
    return { kind: 'observed', sightings: [...refunds, creditOf(context, note)] }
  })

function creditOf(context: BillerContext, note: DatedNote): ObservedRecord {
  return {
    kind: 'record',
    record: note.reason_code === 'chargeback' ? 'dispute' : 'credit',
    ...nameObject(context, 'subscription', 'credit_note', note.id, belongsTo(note)),
    providerRef: note.id,
    amount: note.total,
    currency: note.currency_code ?? null,
    state: note.deleted === true ? 'canceled' : stateIn(STATES, note.status),
    stateVersion: versionOf(note),
    createdAt: note.date,
    ...noteDetails(context, note, null),
  }
}

/** The sighting of a refund in a credit note. The transaction of the refund has more fields, e.g. the gateway's id. */
function refundOf(context: BillerContext, note: DatedNote, linked: LinkedRefund): ObservedAction {
  return {
    kind: 'action',
    action: 'refund',
    ...nameObject(context, 'subscription', 'transaction', linked.txn_id, [...belongsTo(note), note.id]),
    providerRef: linked.txn_id,
    gatewayRefs: [],
    creditNoteIds: [note.id],
    // The amount of the transaction is preferred, because one refund may pay out several notes.
    amount: linked.txn_amount ?? linked.applied_amount,
    currency: note.currency_code ?? null,
    state: stateOfTransaction(linked.txn_status),
    // The note's version does not order the states of the transaction.
    stateVersion: null,
    createdAt: linked.txn_date ?? linked.applied_at ?? note.date,
    // The dates may be chosen; the note was changed when the refund was linked to it, or later.
    made: { at: null, by: versionOf(note) ?? context.shownAt ?? note.date },
    idempotencyKey: null,
    ...noteDetails(context, note, linked),
  }
}

/** @param refund null for the note itself, which has no known page in the dashboard */
function noteDetails(context: BillerContext, note: DatedNote, refund: LinkedRefund | null) {
  return detailsOf({
    customer: customerOf(context, note.customer_id),
    payment: {
      number: shownText(note.reference_invoice_id),
      refund_reason:
        shownText(refund?.refund_reason_code) ?? shownText(note.create_reason_code) ?? shownText(note.reason_code),
    },
    mode: modeOf(context),
    dashboardUrl: refund === null ? null : pageOf(context, 'transactions', refund.txn_id),
  })
}

function belongsTo(note: DatedNote): (string | null)[] {
  return [note.subscription_id, note.reference_invoice_id]
}

/** The state of a credit. `refund_due` is not final, because the note may be refunded or allocated to an invoice. */
const STATES: Readonly<Record<string, ObjectState>> = {
  adjusted: 'succeeded',
  refunded: 'succeeded',
  voided: 'canceled',
}
