import { type ActionDocument, monthMarks, normalizeSearchText } from '@backstop/contracts'
import { refusedField } from '../../http/refused-field.ts'
import type { DocumentFilter } from '../../store/collection.ts'

/**
 * The filter of the actions about a customer. It names a search key too, because the index of searches has all customers of a project: an index
 * of their ids alone would cost a write with every action.
 * @param customerId undefined matches everything
 * @param now the time of the request, for the months of the keys
 * @throws AppError `invalid_request` without a project
 */
export function ofCustomer(
  customerId: string | undefined,
  { project_id }: { readonly project_id?: string },
  now: Date,
): DocumentFilter<ActionDocument> {
  if (customerId === undefined) return {}
  if (project_id === undefined) throw refusedField('query.project_id', 'Name the project of the customer')
  const text = normalizeSearchText(customerId)
  const where = { search: { in: monthMarks(now.getTime()).map(mark => mark + text) }, 'customer.id': customerId }
  // The type of filters knows no fields of fields.
  return where as DocumentFilter<object>
}
