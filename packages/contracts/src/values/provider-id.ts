import { z } from 'zod'

/** Excludes control characters (C0, DEL, C1) and lone surrogates, which UTF-8 cannot encode. */
const PROVIDER_ID_PATTERN = /^[^\p{Cc}\p{Cs}]{1,255}$/u

/**
 * True if a value can be the id of a provider's object: text of 1 to 255 code points without control characters. At the biller, merchants
 * choose ids, so an id may contain spaces, slashes and any script. Ids are compared byte by byte, without trimming, case folding or
 * normalisation.
 */
export function isProviderId(value: unknown): value is string {
  return typeof value === 'string' && PROVIDER_ID_PATTERN.test(value)
}

/** The id of a provider's object, unchanged. JSON Schema counts its length in code points, too. */
export const ProviderId = z
  .string()
  .refine(isProviderId, 'Use the id as the provider gave it: 1 to 255 characters, none of them a control character')
  .meta({ minLength: 1, maxLength: 255 })
