import { z } from 'zod'

/** A currency code in upper or lower case, converted to lower case. */
export const CurrencyCode = z
  .string()
  .regex(/^[A-Za-z]{3}$/, 'Give the three letters of ISO 4217')
  .transform(code => code.toLowerCase())
