import { type LimitInterval, periodOf } from './period.ts'

/** The fields of an expected change (ExpectedChangeDocument) that name its uses. */
interface Limited {
  readonly _id: string
  readonly limits?: { readonly interval: LimitInterval | null }
}

/** The last part of the id if the limits of an expected change with `limits` apply in total. */
const TOTAL = 'total'

/**
 * The id of the document that counts the uses of an expected change by an action of this time. Without `limits` it is the id of the
 * expected change. With `limits` it never is: a reconciler of 0.2.0 takes an expected change for deleted if it finds none with this id.
 * @param at when the provider made the action, in milliseconds since the epoch
 */
export function usesIdOf({ _id, limits }: Limited, at: number): string {
  if (limits === undefined) return _id
  return `${_id}/${limits.interval === null ? TOTAL : periodOf(limits.interval, at).firstDay}`
}

/** The expected change whose uses have this id, and the first day of their period; null if its limits apply in total. */
export function partsOfUsesId(usesId: string): { readonly expectedChangeId: string; readonly firstDay: string | null } {
  const [expectedChangeId = '', last = TOTAL] = usesId.split('/')
  return { expectedChangeId, firstDay: last === TOTAL ? null : last }
}

/** The ids of all uses of an expected change, as a range that includes both ends. An id is followed by nothing or by a slash. */
export function usesIdRange(expectedChangeId: string): { readonly min: string; readonly max: string } {
  return { min: expectedChangeId, max: `${expectedChangeId}/~` }
}
