/**
 * A circuit breaker for sends to the broker. It opens after a failed send, unless another send succeeded since that send began. While it
 * is open, new messages are refused at once so that no caller's socket is held in vain, except for one probe per interval. The first
 * success closes it.
 */
export interface BreakerState {
  /** Milliseconds since the epoch; 0 before the first success. */
  readonly lastSuccessMs: number
  /** When the next probe is allowed; null while the breaker is closed. */
  readonly nextProbeMs: number | null
}

export const CLOSED_BREAKER: BreakerState = { lastSuccessMs: 0, nextProbeMs: null }

export type SendAdmission =
  | { readonly kind: 'admitted'; readonly reason: 'broker_answers' | 'probe'; readonly state: BreakerState }
  | { readonly kind: 'refused'; readonly reason: 'broker_unavailable' }

export function admitSend(state: BreakerState, nowMs: number, probeIntervalMs: number): SendAdmission {
  if (state.nextProbeMs === null) return { kind: 'admitted', reason: 'broker_answers', state }
  if (nowMs < state.nextProbeMs) return { kind: 'refused', reason: 'broker_unavailable' }
  return { kind: 'admitted', reason: 'probe', state: { ...state, nextProbeMs: nowMs + probeIntervalMs } }
}

export function breakerAfterSuccess(nowMs: number): BreakerState {
  return { lastSuccessMs: nowMs, nextProbeMs: null }
}

/** @param beganMs when the failed send began; an ack after this time shows that the broker is available */
export function breakerAfterFailure(
  state: BreakerState,
  beganMs: number,
  nowMs: number,
  probeIntervalMs: number,
): BreakerState {
  if (state.lastSuccessMs >= beganMs || state.nextProbeMs !== null) return state
  return { ...state, nextProbeMs: nowMs + probeIntervalMs }
}
