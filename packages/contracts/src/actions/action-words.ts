import type { Action } from './verdict.ts'

/** The kind of an action in words. An authorization that was released is not called a refund, because no money moved. */
export function kindWords({
  kind,
  authorization_released,
}: {
  readonly kind: string
  readonly authorization_released?: true | undefined
}): string {
  return authorization_released ? 'release of an authorization' : kind.replaceAll('_', ' ')
}

/** The state of an action in words. They say what became of a subscription, and of the money. */
export function stateWords(
  action: Pick<Action, 'kind' | 'state' | 'authorization_released' | 'subscription_continues'>,
): string {
  const { kind, state, authorization_released, subscription_continues } = action
  if (authorization_released) return 'released, no money moved'
  if (kind !== 'cancellation') return state.replaceAll('_', ' ')
  const now =
    subscription_continues === undefined
      ? ''
      : subscription_continues
        ? '; the subscription continues'
        : '; another cancellation followed'
  switch (state) {
    case 'canceled':
      return `${subscription_continues === false ? 'set and did not take effect' : 'set and taken back'}${now}`
    case 'reversed':
      return `made and taken back later${now}`
    default:
      return state.replaceAll('_', ' ')
  }
}
