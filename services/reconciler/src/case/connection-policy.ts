import type { OutOfBand, ProviderKind, VerdictReason } from '@backstop/contracts'
import type { ActionRecord } from './action-record.ts'
import type { Case } from './case.ts'

/** The settings of a connection that decide, at the second look, whether an unexplained action alerts. */
export interface ConnectionPolicy {
  readonly connectionId: string
  readonly provider: ProviderKind
  readonly outOfBand: OutOfBand
  readonly deleted: boolean
  /** True if the provider's data can be read through the connection. */
  readonly canRead: boolean
  /** True if an operation of this connection ever reached `executing`. */
  readonly hasExecuted: boolean
}

export type Permission =
  | { readonly kind: 'alert'; readonly connectionId: string; readonly outOfBand: OutOfBand }
  | {
      readonly kind: 'quiet'
      readonly reason: Extract<
        VerdictReason,
        'out_of_band_ignore' | 'auto_before_first_operation' | 'connection_deleted'
      >
    }

/** Strictest first: if two connections show an action, the stricter setting applies. */
const STRICTNESS: readonly OutOfBand[] = ['alert', 'auto', 'ignore']

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
    const policy = known.get(id) ?? { ...UNKNOWN, connectionId: id, provider: action.provider }
    return hasExecuted ? { ...policy, hasExecuted } : policy
  })
}

const UNKNOWN = { outOfBand: 'alert', deleted: false, hasExecuted: false, canRead: false } as const

/** Decides whether an action that these connections show may alert, with the reason if not. */
export function permissionToAlert(policies: readonly ConnectionPolicy[]): Permission {
  const living = policies
    .filter(policy => !policy.deleted)
    .sort((a, b) => STRICTNESS.indexOf(a.outOfBand) - STRICTNESS.indexOf(b.outOfBand))
  const strictest = living[0]
  if (strictest === undefined) return { kind: 'quiet', reason: 'connection_deleted' }
  if (strictest.outOfBand === 'ignore') return { kind: 'quiet', reason: 'out_of_band_ignore' }
  // The connections show the same provider account, so an operation on any of them is enough for `auto`.
  if (strictest.outOfBand === 'auto' && !policies.some(policy => policy.hasExecuted)) {
    return { kind: 'quiet', reason: 'auto_before_first_operation' }
  }
  return { kind: 'alert', connectionId: strictest.connectionId, outOfBand: strictest.outOfBand }
}
