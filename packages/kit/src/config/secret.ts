import { inspect } from 'node:util'

/** A secret that cannot be printed by accident: every conversion to text returns `[secret]`. */
export class Secret {
  readonly #value: string
  readonly #readAgain: (() => string | undefined) | undefined
  #latest: string

  /** @param readAgain reads the mounted file of the secret; undefined if it has no valid value now */
  constructor(value: string, readAgain?: () => string | undefined) {
    this.#value = value
    this.#latest = value
    this.#readAgain = readAgain
  }

  /** The secret text, as it was at the start. Call it only where the secret is used. */
  reveal(): string {
    return this.#value
  }

  /**
   * The secret text as its mounted file has it now, for credentials that are rotated without a restart. Without a file, or
   * while the file cannot be read or is invalid, it is the last valid text.
   */
  revealLatest(): string {
    this.#latest = this.#readAgain?.() ?? this.#latest
    return this.#latest
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}
