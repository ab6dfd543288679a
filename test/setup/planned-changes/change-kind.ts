/** A deed at a billing account, planned by a test with the result that the product must show. */
import type { ActionKind, ProviderKind, RecordKind } from '@backstop/contracts'
import type { Connected } from '../accounts.ts'

/** The operation about a deed. */
export interface Said {
  readonly kind: ActionKind
  /** Payment or subscription at the provider. */
  readonly subject: string
  /** Of refunds alone. */
  readonly amount?: number
  readonly currency?: string
}

/** A planned deed. */
export interface Prepared {
  /** Its operation; null if there cannot be one. */
  readonly said: Said | null
  /**
   * Does it.
   * @param key the request's idempotency key; only at the processor
   * @returns the provider's id of it, and other names that an alert may use
   */
  act(key: string | null): { readonly ref: string; readonly names?: readonly string[] }
  /** Its later change, more than a second later, because providers give times in whole seconds. */
  later?(): unknown
}

/** One kind of deed. */
export interface Maker {
  /** For failure messages. */
  readonly what: string
  /** How many of them for each deed of the rarest kind. */
  readonly share: number
  /** The records that it creates. */
  readonly leaves: readonly RecordKind[]
  /** The connection through which an operation about it is reported. */
  readonly through: Pick<Connected<ProviderKind>, 'report' | 'follow' | 'unheard' | 'kind'>
  /** Alerts that are sent although an operation explains it. */
  readonly toldThough?: 'REFUND_REJECTED' | 'drift.detected'
  /** The final state of its operation; completed by default. */
  readonly reportedAs?: 'awaiting_review'
  /** Whether its provider still shows all of it when it is read. */
  readonly isLosable?: true
  /** Whether the provider caused the end: then it is not judged. */
  readonly isInvoluntary?: true
  /** @param number unique, from 1: determines its unique amount */
  prepare(number: number): Prepared
}

/** An amount in minor units that differs by more than five from that of every other deed. */
export function amountOf(number: number): number {
  return 1_000 + 10 * number
}

/** The name that alerts give to a refund that is known only from its charge. */
export function nameByAmount(subject: string, amount: number | null): string {
  return `${amount} of ${subject}`
}
