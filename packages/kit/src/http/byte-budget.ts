/** How many bytes of bodies this process holds at once, over all requests. Counted as they arrive, not as announced. */
export class ByteBudget {
  readonly #limit: number
  #held = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get held(): number {
    return this.#held
  }

  /** Takes that many bytes, or none and says false when they do not fit. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#limit) return false
    this.#held += bytes
    return true
  }

  release(bytes: number): void {
    this.#held -= bytes
  }
}
