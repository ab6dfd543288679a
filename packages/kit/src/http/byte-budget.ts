/**
 * Limits the body bytes that this process holds, over all requests. Counts bytes when they arrive, not when they are
 * announced.
 */
export class ByteBudget {
  readonly #limit: number
  #held = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get held(): number {
    return this.#held
  }

  /** Reserves the bytes. @returns false if they do not fit; nothing is reserved then */
  reserve(bytes: number): boolean {
    if (this.#held + bytes > this.#limit) return false
    this.#held += bytes
    return true
  }

  release(bytes: number): void {
    this.#held -= bytes
  }
}
