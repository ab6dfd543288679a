import { MAX_CREDENTIAL_LENGTH, type RefusalReason } from './provider.ts'

/** The value of the credential's header, or the reason why the request is refused. */
export type SingleHeader =
  | { readonly kind: 'single'; readonly value: string }
  | { readonly kind: 'refused'; readonly reason: RefusalReason }

/** Returns the value of the credential's header. Exactly one value is required. */
export function singleHeader(values: readonly string[]): SingleHeader {
  const [value, ...others] = values
  if (value === undefined || value === '') return { kind: 'refused', reason: 'credential_missing' }
  if (others.length > 0) return { kind: 'refused', reason: 'credential_repeated' }
  if (value.length > MAX_CREDENTIAL_LENGTH) return { kind: 'refused', reason: 'credential_too_long' }
  return { kind: 'single', value }
}
