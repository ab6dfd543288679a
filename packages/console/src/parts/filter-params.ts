/** The search params of the filters that several lists have. */
import * as z from 'zod/mini'

const minorUnits = z.string().check(z.regex(/^\d{1,15}$/))
const timestamp = z.string().check(z.regex(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/))

/** The params of AmountFilter. */
export const AMOUNT_PARAMS = {
  currency: z.string().check(z.regex(/^[a-z]{3}$/)),
  min_amount: minorUnits,
  max_amount: minorUnits,
}

/** The params of TimeFilter. */
export const TIME_PARAMS = { from: timestamp, to: timestamp }
export const MADE_PARAMS = { made_from: timestamp, made_to: timestamp }

/** The query of a list for the amounts of the URL, which are texts. */
export function amountQuery({
  min_amount,
  max_amount,
}: {
  min_amount?: string | undefined
  max_amount?: string | undefined
}) {
  return {
    ...(min_amount === undefined ? {} : { min_amount: Number(min_amount) }),
    ...(max_amount === undefined ? {} : { max_amount: Number(max_amount) }),
  }
}
