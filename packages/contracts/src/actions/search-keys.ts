/**
 * The keys under which actions and operations are found. A search finds a document if one of its keys, without the month, begins with the
 * normalised query. The keys are stored with the document and derived from it alone, so what is erased from the document is erased from its keys.
 */
import { decimalAmount, decimalsOf } from '../values/money.ts'
import type { Operation } from './operation.ts'
import { monthMark } from './search-months.ts'
import type { Action } from './verdict.ts'

/** Long enough for every id. Longer texts are found by their beginning. */
const MAX_KEY_LENGTH = 255
/** A name is found by the beginning of each of its first words. */
const MAX_NAME_WORDS = 5

type SearchedAction = Pick<
  Action,
  'subject' | 'provider_ref' | 'amount' | 'currency' | 'customer' | 'origin' | 'payment' | 'account' | 'first_seen_at'
>
type SearchedOperation = Pick<
  Operation,
  'subject' | 'provider_ref' | 'idempotency_key' | 'run_id' | 'amount' | 'currency' | 'created_at'
>

export function searchKeysOfAction({ customer, origin, payment, ...action }: SearchedAction): string[] {
  const { subject, provider_ref, amount, currency, account, first_seen_at } = action
  return toKeys(first_seen_at, [
    subject,
    provider_ref,
    account,
    amountKey(amount, currency),
    customer?.id,
    customer?.email,
    ...nameEndsOf(customer?.name),
    origin?.idempotency_key,
    payment?.number,
  ])
}

export function searchKeysOfOperation(operation: SearchedOperation): string[] {
  const { subject, provider_ref, idempotency_key, run_id, amount, currency, created_at } = operation
  return toKeys(created_at, [subject, provider_ref, amountKey(amount, currency), idempotency_key, run_id])
}

const HAS_NO_ACCENTS_OR_SPACES = /^[!-~]*$/

/** A text without case, accents and repeated spaces. */
export function normalizeSearchText(text: string): string {
  // Shortcut: most keys are ids, which have neither accents nor spaces.
  if (HAS_NO_ACCENTS_OR_SPACES.test(text)) return text.toLowerCase().slice(0, MAX_KEY_LENGTH)
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_KEY_LENGTH)
}

const AMOUNT = /^(?:([a-z]{3}) ?)?[€$£¥]?(\d{1,3}(?:[ ,.']\d{3})+|\d+)(?:[.,](\d{1,3}))?(?: ?(?:([a-z]{3})|[€$£¥]))?$/

/** The beginning of the keys that a query asks for. An amount may be written as people do: `EUR 1,234.50`, `1.234,50 €`. */
export function searchPrefixOf(query: string): string {
  const text = normalizeSearchText(query)
  const [isAmount, before, whole = '', decimals, after] = AMOUNT.exec(text) ?? []
  if (isAmount === undefined) return text
  const currency = before ?? after
  const number = whole.replaceAll(/[ ,.']/g, '')
  if (currency === undefined) return decimals === undefined ? number : `${number}.${decimals}`
  const digits = decimalsOf(currency)
  return digits === 0 ? `${number} ${currency}` : `${number}.${(decimals ?? '').padEnd(digits, '0')} ${currency}`
}

function amountKey(amount: number | null, currency: string | null): string | null {
  return amount === null || currency === null ? null : `${decimalAmount(amount, currency)} ${currency}`
}

/** "Anna Maria Kern" as itself, "Maria Kern" and "Kern". */
export function nameEndsOf(name: string | null | undefined): string[] {
  const words = name == null ? [] : normalizeSearchText(name).split(' ').slice(0, MAX_NAME_WORDS)
  return words.map((_, index) => words.slice(index).join(' '))
}

/** @param at ISO 8601 */
function toKeys(at: string, texts: readonly (string | null | undefined)[]): string[] {
  const keys = texts.flatMap(text => (text == null ? [] : [normalizeSearchText(text)]))
  const mark = monthMark(Date.parse(at))
  return [...new Set(keys)].filter(key => key !== '').map(key => mark + key)
}
