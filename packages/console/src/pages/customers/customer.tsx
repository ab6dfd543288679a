import * as z from 'zod/mini'
import { useFilters } from '../../parts/filters/index.ts'
import { useResourceId } from '../../parts/page/index.ts'
import { ConnectionName, idFact } from '../../parts/show/index.ts'
import { ActionsOfPage, useActionsOf } from '../actions/actions-of.tsx'

const ABOVE = ['actions', 'Refunds and cancellations'] as const
const PARAMS = { connection_id: z.string() }

/** The refunds and cancellations of one customer. Its name is that of the newest one whose personal data is not erased. */
export function Page() {
  const customer_id = useResourceId()
  const [{ connection_id }] = useFilters(PARAMS)
  const actions = useActionsOf({ customer_id, ...(connection_id && { connection_id }) })
  const known = actions.list.items.map(({ customer }) => customer)
  const name = known.find(customer => customer?.name != null)?.name
  const email = known.find(customer => customer?.email != null)?.email
  return (
    <ActionsOfPage
      kind="Customer"
      title={name ?? email ?? customer_id}
      above={ABOVE}
      actions={actions}
      facts={[
        ['E-mail', name == null ? null : email],
        ['Customer id', idFact(customer_id)],
        ['Connection', connection_id && <ConnectionName key="connection" id={connection_id} />],
      ]}
    />
  )
}
