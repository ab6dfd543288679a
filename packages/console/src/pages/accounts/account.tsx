import { useResourceId } from '../../parts/page/index.ts'
import { ConnectionName, idFact } from '../../parts/show/index.ts'
import { ActionsOfPage, useActionsOf } from '../actions/actions-of.tsx'

const ABOVE = ['connections', 'Connections'] as const

/** The refunds and cancellations of one connected account. */
export function Page() {
  const account = useResourceId()
  const actions = useActionsOf({ account })
  const [newest] = actions.list.items
  return (
    <ActionsOfPage
      kind="Connected account"
      title={account}
      above={ABOVE}
      actions={actions}
      facts={[
        ['Id', idFact(account)],
        ['Connection', newest && <ConnectionName key="connection" id={newest.connection_id} />],
      ]}
    />
  )
}
