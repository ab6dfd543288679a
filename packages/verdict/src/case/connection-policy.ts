import type { AccountSetting, LookedConnection, OutOfBand, ProviderKind } from '@backstop/contracts'
import type { ActionRecord } from './action-record.ts'
import type { Case } from './case.ts'
import { connectedAccountOf } from './sides.ts'

/** The settings of a connection that decide, at the second look, whether an unexplained action alerts. */
export interface ConnectionPolicy {
  readonly connectionId: string
  readonly provider: ProviderKind
  readonly outOfBand: OutOfBand
  /** The connected accounts with a setting of their own. */
  readonly accounts?: readonly AccountSetting[]
  /** The connected account whose own setting `outOfBand` is. */
  readonly account?: string
  readonly deleted: boolean
  /** True if the provider's data can be read through the connection. */
  readonly canRead: boolean
  /** True if an operation of this connection ever reached `executing`. */
  readonly hasExecuted: boolean
}

/**
 * The policies of every connection that shows an action. If the document of a connection is missing, its policy is
 * `alert`, because missing data must not suppress an alert. Connections are only marked as deleted, so a missing
 * document is a fault.
 */
export function policiesOf(
  theCase: Case,
  action: ActionRecord,
  known: ReadonlyMap<string, ConnectionPolicy>,
): ConnectionPolicy[] {
  // An operation on this payment proves that the account executes operations, even if another connection reported it.
  const hasExecuted =
    theCase.operations.some(operation => operation.executing_at !== null) ||
    theCase.evicted.some(({ operationId }) => operationId !== null)
  return action.seenThrough.map(({ id }) => {
    const policy = withAccount(
      known.get(id) ?? { ...UNKNOWN, connectionId: id, provider: action.provider },
      connectedAccountOf(action, action.provider),
    )
    return hasExecuted ? { ...policy, hasExecuted } : policy
  })
}

/** The policy with the setting of the account, if it has its own. */
function withAccount(policy: ConnectionPolicy, account: string | undefined): ConnectionPolicy {
  const own = policy.accounts?.find(setting => setting.account === account)
  return own === undefined ? policy : { ...policy, outOfBand: own.out_of_band, account: own.account }
}

const UNKNOWN = { outOfBand: 'alert', deleted: false, hasExecuted: false, canRead: false } as const

/** The facts of the policies that decide whether an action may alert, in the form that is stored with its second look. */
export function lookedConnections(policies: readonly ConnectionPolicy[]): LookedConnection[] {
  return policies.map(({ connectionId, outOfBand, account, deleted, hasExecuted }) => ({
    connection_id: connectionId,
    out_of_band: outOfBand,
    ...(account === undefined ? {} : { account }),
    deleted,
    has_executed: hasExecuted,
  }))
}
