import { containsEmailAddress } from '@backstop/contracts'
import { allDetailsOf } from './all-details.ts'
import type { Case } from './case.ts'

/**
 * The customers of a case of two payments whose data stays, because only the other customer was erased. They are known by their ids at the
 * provider.
 */

/** The ids of the customers of a merged case that were not erased; undefined if there are none. An id without a counterpart proves nothing. */
export function otherCustomersOf(a: Case, b: Case): readonly string[] | undefined {
  const cases = [customersIn(a), customersIn(b)]
  const erased = cases.flatMap(customers => customers.erased)
  // One person has an id at each provider, so only ids at one provider tell customers apart.
  const isOther = ({ id, provider }: CustomerId) =>
    erased.some(one => one.provider === provider) && erased.every(one => one.id !== id)
  const ids = cases.flatMap(({ kept }) => kept.filter(isOther).map(({ id }) => id))
  return ids.length === 0 ? undefined : [...new Set(ids)]
}

type CustomerId = { readonly id: string; readonly provider: string }

function customersIn(theCase: Case): { readonly erased: readonly CustomerId[]; readonly kept: readonly CustomerId[] } {
  const shown = [...allDetailsOf(theCase)].flatMap(([details, , provider]) => {
    const id = details?.['customer.id']?.[0]
    return id === undefined || containsEmailAddress(id) ? [] : [{ id, provider }]
  })
  if (theCase.personErasures === undefined) return { erased: [], kept: shown }
  const isKept = ({ id }: CustomerId) => theCase.otherCustomers?.includes(id) === true
  return { erased: shown.filter(one => !isKept(one)), kept: shown.filter(isKept) }
}
