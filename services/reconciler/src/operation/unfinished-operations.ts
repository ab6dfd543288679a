import type { Operation, OperationState } from '@backstop/contracts'
import type { Case } from '../case/case.ts'

/** The states after which no other state is reported. `failed` is none of them: the provider may have done it all the same. */
const FINAL: ReadonlySet<OperationState> = new Set(['completed', 'rejected'])

/** The operations of a case whose state may still change. */
export function unfinishedOperations({ operations }: Case): readonly Operation[] {
  return operations.filter(({ state }) => !FINAL.has(state))
}
