import { randomInt } from 'node:crypto'

/** Seeded random values: the same seed repeats a run, so that a failed test can be reproduced. */
export interface Chance {
  /** A number from 0 up to, not including, 1. */
  next(): number
  /** `length` letters and digits, like the ids of providers. */
  text(length: number): string
}

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/**
 * Random values from a seed (mulberry32: uniform enough for ids and drop rates, not for secrets).
 * @param seed any integer; random by default
 */
export function createChance(seed: number = randomInt(2 ** 32)): Chance {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    text: length =>
      Array.from({ length }, () => LETTERS_AND_DIGITS[Math.floor(next() * LETTERS_AND_DIGITS.length)]).join(''),
  }
}
