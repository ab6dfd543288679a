import type { AppError } from '../errors.ts'
import { type EgressFailure, egressFailed } from './failure.ts'

/** The overall time limit of one request; undici's own limits restart with every byte. */
export class Deadline {
  readonly #timer: NodeJS.Timeout
  readonly #outer: AbortSignal | undefined
  readonly #onOuterAbort = () => this.end('stopped')
  #why: AppError | undefined
  #tell: ((why: AppError) => void) | undefined

  /** @param outer ends it before its time */
  constructor(timeoutMs: number, outer: AbortSignal | undefined) {
    this.#timer = setTimeout(() => this.end('deadline'), timeoutMs)
    this.#outer = outer
    if (outer?.aborted) this.end('stopped')
    else outer?.addEventListener('abort', this.#onOuterAbort, { once: true })
  }

  end(why: EgressFailure): void {
    if (this.#why !== undefined) return
    this.#why = egressFailed(why)
    this.#tell?.(this.#why)
  }

  /** Whom to tell of its end: whoever asked last, and at once when it is over already. */
  onEnd(tell: (why: AppError) => void): void {
    if (this.#why === undefined) this.#tell = tell
    else tell(this.#why)
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this.#onOuterAbort)
  }

  /** The promise's value, unless the deadline comes first. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.onEnd(reject)
      promise.then(resolve, reject)
    })
  }
}
