/** What can be done at a billing account, as a test plans it: it knows what the product must make of it. */
import type { ActionKind, ProviderKind, RecordKind } from '@backstop/contracts'
import type { Connected } from '../accounts.ts'

/** What an operation about a deed says. */
export interface Said {
  readonly kind: ActionKind
  /** Payment or subscription at the provider. */
  readonly subject: string
  /** Of refunds alone. */
  readonly amount?: number
  readonly currency?: string
}

/** A deed that is about to be done. */
export interface Prepared {
  /** What an operation says of it; null where none could. */
  readonly said: Said | null
  /**
   * Does it.
   * @param key the request's idempotency key; of the processor alone
   * @returns the provider's id of it and, beside that one, the names by which an alert may call it
   */
  act(key: string | null): { readonly ref: string; readonly names?: readonly string[] }
  /** What becomes of it, a good second later: providers give whole ones. */
  later?(): unknown
}

/** One kind of deed. */
export interface Maker {
  /** For whoever reads a failure. */
  readonly what: string
  /** How many of them for one of the rarest kind. */
  readonly share: number
  /** The records that it leaves. */
  readonly leaves: readonly RecordKind[]
  /** The connection through which an operation about it is reported. */
  readonly through: Pick<Connected<ProviderKind>, 'report' | 'follow' | 'unheard' | 'kind'>
  /** What people are told although an operation explains it. */
  readonly toldThough?: 'REFUND_REJECTED' | 'drift.detected'
  /** The state in which its operation is reported when it is done; completed when left out. */
  readonly reportedAs?: 'awaiting_review'
  /** Its provider, when it is asked, still tells all of it. */
  readonly isLosable?: true
  /** An end that the provider made: not judged, whatever is reported. */
  readonly isInvoluntary?: true
  /** @param number its own, from 1: makes its amount unlike all others */
  prepare(number: number): Prepared
}

/** Minor units that no other deed has, and none by five more or less. */
export function amountOf(number: number): number {
  return 1_000 + 10 * number
}

/** How alerts call a refund that is known from its charge alone. */
export function nameByAmount(subject: string, amount: number | null): string {
  return `${amount} of ${subject}`
}
