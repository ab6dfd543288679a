/** A trouble of an API: the next calls get it instead of their answer. */
export type Trouble = TroubleKind & {
  /** The number of calls that get the trouble. */
  readonly times: number
  /** Only calls whose path and query match get the trouble; by default all calls. */
  readonly path?: RegExp
}

type TroubleKind =
  /** The provider's error body with this status. `retryAfterS` adds the header retry-after, in seconds. */
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

/** The present trouble of an API. */
export interface Troubles {
  /** Sets the trouble of the next calls. It replaces an earlier trouble. */
  meet(trouble: Trouble): void
  /** Counts a call, and returns its trouble; undefined if there is none. */
  next(pathAndQuery: string): Trouble | undefined
}

/** Creates the initial state, in which the API works. */
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
