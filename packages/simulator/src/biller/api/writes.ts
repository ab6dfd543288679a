/** Writes through the biller's API, so that a person can do by curl what the holder of a leaked key can do. */
import type { ApiCall } from '../../api/provider-api.ts'
import type { Biller } from '../account.ts'
import type { Actor } from '../events.ts'
import type { CreditNoteReason } from '../objects/credit-note.ts'
import type { BillerSubscription } from '../objects/subscription.ts'
import { wrongValue } from '../refusal.ts'

/**
 * Answers a POST; undefined for an unknown path.
 * @param keyNames the name of each key, which events show
 * @throws BillerRefusal if the API refuses the request
 */
export function answerWrite(
  biller: Biller,
  [resource, id, action]: readonly (string | undefined)[],
  call: ApiCall,
  keyNames: Readonly<Record<string, string>>,
): object | undefined {
  if (call.method !== 'POST' || id === undefined || action === undefined) return undefined
  const form = new URLSearchParams(call.body)
  const by = actorOf(call, keyNames)
  if (resource === 'subscriptions') {
    const subscription = changeSubscription(biller, id, action, form, by)
    if (subscription === undefined) return undefined
    return { subscription, customer: biller.asOf(call.nowMs).customers.get(subscription.customer_id) }
  }
  if (action !== 'refund') return undefined
  const amount = form.has('refund_amount') ? { amount: integer(form, 'refund_amount') } : {}
  if (resource === 'credit_notes') {
    const transaction = biller.refundCreditNote(id, { ...amount, by })
    return { credit_note: biller.asOf(call.nowMs).creditNotes.get(id), transaction }
  }
  if (resource !== 'invoices') return undefined
  const reason = form.get('credit_note[reason_code]')
  const why = reason === null ? {} : { reason: reason as CreditNoteReason }
  const { creditNote, refund } = biller.refundInvoice(id, { ...amount, ...why, by })
  return { invoice: biller.asOf(call.nowMs).invoices.get(id), transaction: refund, credit_note: creditNote }
}

function changeSubscription(
  biller: Biller,
  id: string,
  action: string,
  form: URLSearchParams,
  by: Actor,
): BillerSubscription | undefined {
  const reason = form.get('cancel_reason_code')
  const how = { by, ...(reason === null ? {} : { reasonCode: reason }) }
  switch (action) {
    case 'cancel':
    case 'cancel_for_items': {
      const atEnd = form.get('end_of_term') === 'true' || form.get('cancel_option') === 'end_of_term'
      return atEnd ? biller.scheduleCancel(id, how) : biller.cancel(id, how)
    }
    case 'remove_scheduled_cancellation':
      return biller.removeScheduledCancel(id, by)
    case 'pause': {
      const atEnd = form.get('pause_option') === 'end_of_term'
      return atEnd ? biller.schedulePause(id, { by }) : biller.pause(id, by)
    }
    case 'remove_scheduled_pause':
      return biller.removeScheduledPause(id, by)
    case 'resume':
      return biller.resume(id, by)
    case 'reactivate':
      return biller.reactivate(id, by)
    default:
      return undefined
  }
}

function actorOf(call: ApiCall, keyNames: Readonly<Record<string, string>>): Actor {
  const originUser = call.header('chargebee-request-origin-user')
  return {
    source: 'api',
    user: keyNames[call.key] ?? 'Unnamed key',
    ...(originUser === undefined ? {} : { originUser }),
    suppressesWebhooks: call.header('chargebee-event-webhook') === 'all-disabled',
  }
}

function integer(form: URLSearchParams, name: string): number {
  const text = form.get(name) ?? ''
  if (!/^\d{1,12}$/.test(text)) throw wrongValue(name, 'invalid value')
  return Number(text)
}
