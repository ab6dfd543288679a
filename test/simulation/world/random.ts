/** Random numbers from a seed. The same seed gives the same numbers on every machine. */
export interface Random {
  /** From 0 to 1, without 1. */
  next(): number
  /** An integer from `min` to `max`, both included. */
  between(min: number, max: number): number
  chance(probability: number): boolean
  pick<T>(values: readonly T[]): T
  /** Another source that depends on the seed and a name only, so that one part of the world does not shift another. */
  fork(name: string): Random
  bytes(into: Uint8Array): void
}

export function createRandom(seed: number | string): Random {
  let state = hash(String(seed))
  // Mulberry32: 32 bits of state are enough, because a run draws far fewer numbers.
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const random: Random = {
    next,
    between: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: probability => next() < probability,
    pick: values => values[Math.floor(next() * values.length)]!,
    fork: name => createRandom(`${seed}/${name}`),
    bytes(into) {
      for (let at = 0; at < into.length; at += 1) into[at] = Math.floor(next() * 256)
    },
  }
  return random
}

function hash(text: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193) >>> 0
  return value
}
