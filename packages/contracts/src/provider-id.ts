import { z } from 'zod'

/** No control character (C0, DEL, C1) and no half of a surrogate pair, which UTF-8 cannot hold. */
const SHAPE = /^[^\p{Cc}\p{Cs}]{1,255}$/u

/**
 * Whether a value can be the id of a provider's object: any text of 1 to 255 code points without control characters.
 * Merchants choose ids at the biller, so an id may hold spaces, slashes and any script. Ids are compared byte by byte:
 * nothing trims them, folds their case or normalises them.
 */
export function isProviderId(value: unknown): value is string {
  return typeof value === 'string' && SHAPE.test(value)
}

/** The id of a provider's object, as the provider gives it. JSON Schema counts code points, too. */
export const ProviderId = z
  .string()
  .refine(isProviderId, 'Use the id as the provider gave it: 1 to 255 characters, none of them a control character')
  .meta({ minLength: 1, maxLength: 255 })
