import { formatMoney, kindWords, showableText } from '@backstop/contracts'
import { cutText } from '../cut-text.ts'
import type { AlertTexts } from './alert-description.ts'

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

/** The title with the customer and the account, by which people tell it from others: `Unexplained refund of EUR 12.50 · Jana Novak · Shop Germany`. */
export function titleWith(title: string, ...names: readonly (string | null | undefined)[]): string {
  return [title, ...names.flatMap(name => (name == null ? [] : [cutText(toOneLine(name), LONGEST_NAME)]))].join(' · ')
}

/** So that a title shows each of its names, in UTF-16 units. */
const LONGEST_NAME = 50

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

/** About twenty words. A message has a limit, and the whole text is in the console. */
const MOST_OF_TEXT = 140

/** What somebody wrote, on one line that fits into a message; null if there is nothing. @param most UTF-16 units */
export function shortTextOrNull(text: string | null | undefined, most = MOST_OF_TEXT): string | null {
  return text == null ? null : cutText(toOneLine(text), most)
}

/** Lists words as a sentence does: `amount, currency and payment`. */
export function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

const MOST_NAMES = 2
/** In UTF-16 units. */
const LONGEST_CHANNEL_NAME = 40

/** `Also sent to On call, Billing`, or null if no other channel gets the alert. */
export function alsoSentText(names: readonly string[] = []): string | null {
  if (names.length === 0) return null
  const shown = names.slice(0, MOST_NAMES).map(name => showableText(cutText(toOneLine(name), LONGEST_CHANNEL_NAME)))
  return `Also sent to ${shown.join(', ')}${names.length > MOST_NAMES ? ' and more' : ''}`
}

/** The last line of a message: who sends it, its id, and who else gets it. */
export function footerOf(brandName: string, reference: string, names?: readonly string[]): string {
  return [brandName, reference, alsoSentText(names)].filter(part => part !== null).join(' · ')
}
