/** Trouble that the next calls of an API get instead of their answer. */
export type Trouble = TroubleKind & {
  /** The number of calls that get it. */
  readonly times: number
  /** Only for calls whose path and query match; for all by default. */
  readonly path?: RegExp
}

type TroubleKind =
  /** The provider's own error body with this status. `retryAfterS` adds that header, in seconds. */
  | { readonly kind: 'error'; readonly status: 401 | 403 | 409 | 429 | 500 | 503; readonly retryAfterS?: number }
  /** A gateway answers with an HTML page. */
  | { readonly kind: 'html'; readonly status: 502 | 503 | 504 }
  /** 404, as if the object were not visible yet, shortly after its event. */
  | { readonly kind: 'missing' }
  /** The call is accepted and never answered. */
  | { readonly kind: 'silence' }
  /** The connection is closed without an answer. */
  | { readonly kind: 'cut' }
  /** The answer is correct but late. */
  | { readonly kind: 'slow'; readonly afterMs: number }

/** Trouble that tests set and calls get. */
export interface Troubles {
  /** Sets the trouble of the next calls, and replaces an earlier one. */
  meet(trouble: Trouble): void
  /** The trouble of this call, which counts; undefined without one. */
  next(pathAndQuery: string): Trouble | undefined
}

/** No trouble. */
export function createTroubles(): Troubles {
  let set: Trouble | undefined
  return {
    meet(trouble) {
      set = trouble
    },
    next(pathAndQuery) {
      const met = set
      if (met === undefined || met.times <= 0 || met.path?.test(pathAndQuery) === false) return undefined
      set = { ...met, times: met.times - 1 }
      return met
    },
  }
}
