import { formatMoney } from '@backstop/contracts'

/** The names of the providers in messages to people. */
export const PROVIDER_NAMES = {
  processor: 'Card processor',
  reseller: 'Reseller billing provider',
  subscription: 'Subscription billing provider',
} as const

/** Formats a time as `2026-11-21 10:00:00 UTC`. */
export function formatTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`
}

export function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** Names an action: `refund of EUR 12.50`, or the kind alone if the amount is unknown. */
export function nameAction(action: { kind: string; amount: number | null; currency: string | null }): string {
  const kind = action.kind.replaceAll('_', ' ')
  const money = formatMoney(action.amount, action.currency)
  return money === null ? kind : `${kind} of ${money}`
}
