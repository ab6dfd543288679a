/** A kind of change at a billing account, e.g. a full refund, with the records that the product must make of it. */
import type { ActionKind, ProviderKind, RecordKind } from '@backstop/contracts'
import type { Connected } from '../accounts.ts'

/** The operation that reports a change. */
export interface ReportedOperation {
  readonly kind: ActionKind
  /** The id of the payment or subscription at the provider. */
  readonly subject: string
  /** Minor units; only for refunds. */
  readonly amount?: number
  readonly currency?: string
}

/** A change whose payment or subscription exists, and that can be made now. */
export interface PreparedChange {
  /** The operation that reports the change; null if the product has no operation for this kind. */
  readonly operation: ReportedOperation | null
  /**
   * Makes the change.
   * @param key the idempotency key of the request; only the processor uses it
   * @returns the provider's id of the change, and other names that an alert may use
   */
  make(key: string | null): { readonly ref: string; readonly names?: readonly string[] }
  /** Makes a later change of the same object. Call it more than a second later, because providers give times in whole seconds. */
  makeLaterChange?(): unknown
}

/** A kind of change at one account. */
export interface ChangeKind {
  /** The description in failure messages. */
  readonly title: string
  /** The frequency of this kind, relative to kinds with weight 1. */
  readonly weight: number
  /** The records that the product must make of a change. */
  readonly records: readonly RecordKind[]
  /** The connection of the account, through which operations are reported. */
  readonly connection: Pick<Connected<ProviderKind>, 'report' | 'reportTransition' | 'withLostEvents' | 'kind'>
  /** The alert that is sent although an operation explains the change. */
  readonly alertDespiteOperation?: 'REFUND_REJECTED' | 'drift.detected'
  /** The final state of the operation; completed by default. */
  readonly finalState?: 'awaiting_review'
  /** True if the events may be lost, because the product finds the whole change when it reads the provider. */
  readonly canLoseEvents?: true
  /** True if the provider itself ends the subscription. Such an end is not judged. */
  readonly isInvoluntary?: true
  /** Creates the payment or subscription of a change. @param number unique, from 1; it determines the unique amount */
  prepare(number: number): PreparedChange
}

/** A unique amount in minor units. Amounts of different changes differ by more than five. */
export function amountOf(number: number): number {
  return 1_000 + 10 * number
}

/** The name of a refund in alerts if the product knows only the total of its charge. */
export function nameByAmount(subject: string, amount: number | null): string {
  return `${amount} of ${subject}`
}
