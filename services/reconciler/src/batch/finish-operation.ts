import type { Command } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import { AppError } from '@backstop/kit/errors'
import type { Ledger } from '@backstop/ledger'

export type FinishOperation = Extract<Command, { kind: 'settle_operation' }>

/**
 * Records the provider's decision about an operation in the ledger. An operation that has ended meanwhile, or that
 * names another object of the provider, is left unchanged, because the team's software reported it.
 * @returns the result, for the log
 */
export async function finishOperation(
  { operation_id, to, provider_ref, reason }: FinishOperation,
  { ledger, clock }: { readonly ledger: Pick<Ledger, 'transition' | 'get'>; readonly clock: Clock },
): Promise<'settled' | 'unknown_operation' | 'reported_otherwise'> {
  const known = await ledger.get(operation_id)
  if (known === undefined) return 'unknown_operation'
  try {
    const learns = provider_ref !== null && known.provider_ref === null
    await ledger.transition(operation_id, { to, reason, ...(learns ? { provider_ref } : {}) }, clock.now())
    return 'settled'
  } catch (error) {
    if (
      error instanceof AppError &&
      (error.code === 'illegal_transition' || error.code === 'conflict') &&
      !error.retryable
    )
      return 'reported_otherwise'
    throw error
  }
}
