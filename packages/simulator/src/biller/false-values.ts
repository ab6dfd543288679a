/**
 * Replaces the values of an event by false values. The subscription biller's notifications are not signed, so anyone with the
 * password can post any content. All ids are kept, so that the objects can be read. Amounts, states, types, times, reasons and
 * causes are false.
 */
import type { Chance } from '../chance.ts'
import type { BillerEvent } from './events.ts'

const STATES: Readonly<Record<string, readonly string[]>> = {
  subscription: ['active', 'non_renewing', 'cancelled', 'paused'],
  transaction: ['success', 'in_progress', 'failure', 'voided'],
  credit_note: ['refunded', 'refund_due', 'adjusted', 'voided'],
  invoice: ['paid', 'payment_due', 'not_paid', 'voided'],
  card: ['valid', 'expiring', 'expired'],
}
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  txn_status: ['success', 'in_progress', 'failure', 'voided'],
  cn_status: ['refunded', 'refund_due', 'adjusted', 'voided'],
  invoice_status: ['paid', 'payment_due', 'not_paid', 'voided'],
  card_status: ['valid', 'expired', 'no_card'],
  source: ['api', 'admin_console', 'scheduled_job', 'portal'],
  reason_code: ['chargeback', 'waiver', 'subscription_change', 'other'],
  cn_reason_code: ['chargeback', 'waiver', 'subscription_change', 'other'],
  cancel_reason: ['not_paid', 'no_card', 'fraud_review_failed'],
  currency_code: ['JPY', 'USD', 'EUR'],
  payment_method: ['card', 'chargeback', 'bank_transfer'],
}
const TYPES: Readonly<Record<string, readonly string[]>> = {
  transaction: ['refund', 'payment', 'authorization'],
  credit_note: ['refundable', 'adjustment', 'store'],
}
const DAY_S = 86_400

/** The event with its ids, type and structure, and with false values. The same chance gives the same values. */
export function withFalseValues(event: BillerEvent, chance: Chance): BillerEvent {
  const { content, ...envelope } = event
  const falseEvent = {
    ...envelope,
    occurred_at: shifted(event.occurred_at, chance),
    source: other(event.source, CHOICES.source ?? [], chance),
    user: 'backstop',
    content: falsified(content, '', '', chance),
  }
  // The structure is that of the original event. Only values differ.
  return falseEvent as BillerEvent
}

function falsified(value: unknown, name: string, object: string, chance: Chance): unknown {
  if (isId(name)) return value
  if (Array.isArray(value)) return value.map(item => falsified(item, name, object, chance))
  if (typeof value === 'object' && value !== null) {
    const kind = String(Reflect.get(value, 'object') ?? object)
    return Object.fromEntries(
      Object.entries(value).map(([member, held]) => [member, falsified(held, member, kind, chance)]),
    )
  }
  if (typeof value === 'number') return falseNumber(value, name, chance)
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'string') return value
  const choices = name === 'status' ? STATES[object] : name === 'type' ? TYPES[object] : CHOICES[name]
  return choices === undefined ? value : other(value, choices, chance)
}

/** True for `id`, `customer_id`, `refunded_txn_id`, `id_at_gateway`, and for `object`, the type that the ids belong to. */
function isId(name: string): boolean {
  return name === 'id' || name.endsWith('_id') || name === 'id_at_gateway' || name === 'object'
}

function falseNumber(value: number, name: string, chance: Chance): number {
  const isTime = /(?:_at|date|_start|_end|_from|_to)$/.test(name)
  return isTime ? shifted(value, chance) : value * 10 + 1 + Math.floor(chance.next() * 9)
}

function shifted(seconds: number, chance: Chance): number {
  return seconds + (chance.next() < 0.5 ? -1 : 1) * DAY_S * (1 + Math.floor(chance.next() * 30))
}

function other(value: string, choices: readonly string[], chance: Chance): string {
  const others = choices.filter(choice => choice !== value)
  return others[Math.floor(chance.next() * others.length)] ?? value
}
