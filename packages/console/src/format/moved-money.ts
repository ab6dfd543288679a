import type { Action } from '@backstop/client'

const MOVED_NO_MONEY: readonly Action['state'][] = ['failed', 'canceled', 'rejected', 'reversed']

/** True if an action moved no money in the end. Sums leave it out. */
export function movedNoMoney({ state }: Pick<Action, 'state'>): boolean {
  return MOVED_NO_MONEY.includes(state)
}
