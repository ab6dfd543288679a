/** Limits the bytes of bodies that this process holds, over all requests. Counts bytes as they arrive, not as announced. */
export class ByteBudget {
  readonly #limit: number
  #held = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get held(): number {
    return this.#held
  }

  /** Reserves the bytes. @returns false, and reserves none, when they do not fit */
  reserve(bytes: number): boolean {
    if (this.#held + bytes > this.#limit) return false
    this.#held += bytes
    return true
  }

  release(bytes: number): void {
    this.#held -= bytes
  }
}
