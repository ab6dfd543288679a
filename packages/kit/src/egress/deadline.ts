import type { AppError } from '../errors.ts'
import { type EgressFailure, egressFailed } from './failure.ts'

/** The time limit of a whole request. undici's own limits restart with every byte. */
export class Deadline {
  readonly #timer: NodeJS.Timeout
  readonly #outer: AbortSignal | undefined
  readonly #onOuterAbort = () => this.end('stopped')
  #why: AppError | undefined
  #listener: ((why: AppError) => void) | undefined

  /** @param outer a signal that ends the deadline early */
  constructor(timeoutMs: number, outer: AbortSignal | undefined) {
    this.#timer = setTimeout(() => this.end('deadline'), timeoutMs)
    this.#outer = outer
    if (outer?.aborted) this.end('stopped')
    else outer?.addEventListener('abort', this.#onOuterAbort, { once: true })
  }

  end(why: EgressFailure): void {
    if (this.#why !== undefined) return
    this.#why = egressFailed(why)
    this.#listener?.(this.#why)
  }

  /** Calls the listener when the deadline ends, or at once if it has ended. Replaces the previous listener. */
  onEnd(listener: (why: AppError) => void): void {
    if (this.#why === undefined) this.#listener = listener
    else listener(this.#why)
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this.#onOuterAbort)
  }

  /** Returns the promise's value, or rejects if the deadline ends first. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.onEnd(reject)
      promise.then(resolve, reject)
    })
  }
}
