import { formatMoney, kindWords, type Names, type ProviderKind } from '@backstop/contracts'
import type { AlertTexts } from './alert-description.ts'

/** The names of the providers in messages to people. */
const PROVIDER_NAMES = {
  processor: 'Card processor',
  reseller: 'Reseller billing provider',
  subscription: 'Subscription billing provider',
} as const satisfies Record<ProviderKind, string>

/** Formats a time as `2026-11-21 10:00:00 UTC`. */
export function formatTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`
}

/** Replaces the times of a text by the form of `formatTime`. */
export function withReadableTimes(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, formatTime)
}

export function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** Names an action: `refund of EUR 12.50`, or the kind alone if the amount is unknown. */
export function nameAction(action: {
  kind: string
  amount: number | null
  currency: string | null
  authorization_released?: true | undefined
}): string {
  const kind = kindWords(action)
  const money = formatMoney(action.amount, action.currency)
  return money === null ? kind : `${kind} of ${money}`
}

/** The noun for the object that a refund or another action changes. */
export function nounOfSubject(kind: string): 'payment' | 'subscription' {
  return kind === 'refund' || kind === 'dispute' ? 'payment' : 'subscription'
}

/** Replaces line breaks, which names given by callers may contain and headlines must not. */
export function toOneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
}

/** The connection and the project by name, e.g. `Shop Germany (card processor), project "Acme Games"`. */
export function nameAccount(provider: ProviderKind, names: Names | undefined, connectionId: string): string {
  const connection = `${toOneLine(names?.connection ?? connectionId)} (${lowerFirst(PROVIDER_NAMES[provider])})`
  return names?.project == null ? connection : `${connection}, project "${toOneLine(names.project)}"`
}

/** The ids of the last line of a message; absent ids are left out. */
export function listIds(ids: Readonly<Record<string, string | null | undefined>>): string {
  return Object.entries(ids)
    .flatMap(([name, id]) => (id == null ? [] : [`${name} ${toOneLine(id)}`]))
    .join(', ')
}

export function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

/** A fact of an alert, before it is known whether there is a value. */
export type FactRow = readonly [label: string, value: string | null | undefined]

/** The facts of these rows that have a value. */
export function factsIn(rows: readonly FactRow[]): AlertTexts['facts'] {
  return rows.flatMap(([label, value]) => (value == null ? [] : [{ label, value }]))
}

/** The text on one line; null if there is none. */
export function oneLineOrNull(text: string | null | undefined): string | null {
  return text == null ? null : toOneLine(text)
}

/** The time in the form of `formatTime`; null if there is none. */
export function timeOrNull(iso: string | null | undefined): string | null {
  return iso == null ? null : formatTime(iso)
}

/** Lists words as a sentence does: `amount, currency and payment`. */
export function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
