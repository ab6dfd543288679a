/** What the next calls of an API meet instead of their answer, or beside it. */
export type Trouble = TroubleKind & {
  /** How many calls meet it; then all is well again. */
  readonly times: number
  /** Only calls whose path and query match; all of them when left out. */
  readonly path?: RegExp
}

type TroubleKind =
  /** The provider's own error body with this status. `retryAfterS` adds that header, in seconds. */
  | { readonly kind: 'error'; readonly status: 401 | 403 | 409 | 429 | 500 | 503; readonly retryAfterS?: number }
  /** A gateway in between answers with a page of HTML. */
  | { readonly kind: 'html'; readonly status: 502 | 503 | 504 }
  /** The object is not visible yet, as shortly after an event: 404. */
  | { readonly kind: 'missing' }
  /** The call is taken and never answered. */
  | { readonly kind: 'silence' }
  /** The connection is closed without an answer. */
  | { readonly kind: 'cut' }
  /** The answer is right but comes late. */
  | { readonly kind: 'slow'; readonly afterMs: number }

/** Trouble that is set and met. */
export interface Troubles {
  /** Sets what the next calls meet; what was set before is forgotten. */
  meet(trouble: Trouble): void
  /** What this call meets, which counts as met; undefined when all is well. */
  next(pathAndQuery: string): Trouble | undefined
}

/** Without any trouble. */
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
