import type { LookedConnection, OutOfBand } from '@backstop/contracts'
import type { SilencedReason } from '../case/action-record.ts'

/** Whether an unexplained action may alert. */
export type Permission =
  | { readonly kind: 'alert'; readonly connectionId: string; readonly outOfBand: OutOfBand }
  | { readonly kind: 'quiet'; readonly reason: SilencedReason }

/** Strictest first: if two connections show an action, the stricter setting applies. */
const STRICTNESS: readonly OutOfBand[] = ['alert', 'auto', 'ignore']

/** Decides whether an unexplained action that these connections show may alert, with the reason if not. */
export function permissionToAlert(connections: readonly LookedConnection[]): Permission {
  const living = connections
    .filter(({ deleted }) => !deleted)
    .sort((a, b) => STRICTNESS.indexOf(a.out_of_band) - STRICTNESS.indexOf(b.out_of_band))
  const strictest = living[0]
  if (strictest === undefined) return { kind: 'quiet', reason: 'connection_deleted' }
  if (strictest.out_of_band === 'ignore') return { kind: 'quiet', reason: 'out_of_band_ignore' }
  // The connections show the same provider account, so an operation on any of them is enough for `auto`.
  if (strictest.out_of_band === 'auto' && !connections.some(({ has_executed }) => has_executed)) {
    return { kind: 'quiet', reason: 'auto_before_first_operation' }
  }
  return { kind: 'alert', connectionId: strictest.connection_id, outOfBand: strictest.out_of_band }
}

/** The connections as they were at the look, but one with another setting. An account's own setting stays, unless it is the one that is tried. */
export function withOutOfBand(
  connections: readonly LookedConnection[],
  connectionId: string,
  outOfBand: OutOfBand,
  account?: string,
): LookedConnection[] {
  return connections.map(each => {
    const isTried = each.connection_id === connectionId && (account !== undefined || each.account === undefined)
    return isTried ? { ...each, out_of_band: outOfBand } : each
  })
}
