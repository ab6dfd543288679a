import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  byTime,
  compareText,
  IncrementalPairing,
  insertByTime,
  nearestFirst,
  pairBestFirst,
  type Timed,
} from './pairing.ts'

const timed = (prefix: string) =>
  fc
    .array(fc.integer({ min: 0, max: 20 }), { maxLength: 8 })
    .map(times => times.map((at, index): Timed => ({ at, name: `${prefix}${index}` })))

const distance = (a: Timed, b: Timed) => Math.abs(a.at - b.at)

interface Found {
  readonly seeker: Timed
  readonly target: Timed
}

const compare = (a: Found, b: Found) =>
  distance(a.seeker, a.target) - distance(b.seeker, b.target) ||
  compareText(a.seeker.name, b.seeker.name) ||
  compareText(a.target.name, b.target.name)

/** The rule itself, without a shortcut: all pairs, sorted, best first. */
function pairedByAll(seekers: readonly Timed[], targets: readonly Timed[], mayBe: (pair: Found) => boolean): Found[] {
  const all = seekers.flatMap(seeker => targets.map(target => ({ seeker, target }))).filter(mayBe)
  const paired: Found[] = []
  for (const pair of all.sort(compare)) {
    if (!paired.some(({ seeker, target }) => seeker === pair.seeker || target === pair.target)) paired.push(pair)
  }
  return paired
}

describe('pairing', () => {
  test('gives the same pairs as sorting all pairs, also if some pairs are not allowed', () => {
    fc.assert(
      fc.property(timed('s'), timed('t'), fc.integer({ min: 1, max: 5 }), (seekers, targets, modulus) => {
        const mayBe = ({ seeker, target }: Found) => modulus === 1 || (seeker.at + target.at) % modulus !== 0
        const sorted = targets.toSorted(byTime)
        const paired = pairBestFirst(
          seekers,
          function* (seeker): Generator<Found, void> {
            for (const target of nearestFirst(sorted, seeker.at))
              if (mayBe({ seeker, target })) yield { seeker, target }
          },
          compare,
        )
        expect([...paired.values()].sort(compare)).toEqual(pairedByAll(seekers, targets, mayBe))
      }),
      { numRuns: 2_000 },
    )
  })

  test('gives the same pairs if seekers and targets are added one after another, in any order', () => {
    const added = fc
      .tuple(timed('s'), timed('t'))
      .chain(([seekers, targets]) =>
        fc.shuffledSubarray([...seekers, ...targets], { minLength: seekers.length + targets.length }),
      )
    fc.assert(
      fc.property(added, fc.integer({ min: 1, max: 5 }), (all, modulus) => {
        const mayBe = ({ seeker, target }: Found) => modulus === 1 || (seeker.at + target.at) % modulus !== 0
        const [seekers, targets]: [Timed[], Timed[]] = [[], []]
        const pairs = new IncrementalPairing<Timed, Timed, Found>(compare)
        for (const one of all) {
          if (one.name.startsWith('s')) {
            insertByTime(seekers, one)
            pairs.addSeeker(one, seeker =>
              [...nearestFirst(targets, seeker.at)].map(target => ({ seeker, target })).filter(mayBe),
            )
          } else {
            insertByTime(targets, one)
            pairs.addTarget(one, target =>
              [...nearestFirst(seekers, target.at)].map(seeker => ({ seeker, target })).filter(mayBe),
            )
          }
        }
        const paired = pairedByAll(seekers, targets, mayBe)
        expect(seekers.map(seeker => pairs.targetOf(seeker))).toEqual(
          seekers.map(seeker => paired.find(pair => pair.seeker === seeker)?.target),
        )
        expect(targets.filter(target => pairs.hasTarget(target))).toHaveLength(paired.length)
      }),
      { numRuns: 2_000 },
    )
  })

  test('an entry within the time span has distance 0', () => {
    const sorted = [1, 4, 6, 9].map((at): Timed => ({ at, name: `at ${at}` }))
    expect([...nearestFirst(sorted, 4, 7)].map(({ at }) => at)).toEqual([4, 6, 9, 1])
  })

  test('a thousand entries next to their targets are paired without comparing all with all', () => {
    const seekers = Array.from({ length: 1_000 }, (_, index): Timed => ({ at: index * 10, name: `s${index}` }))
    const targets = seekers.map(({ at }, index): Timed => ({ at: at + 1, name: `t${index}` }))
    let made = 0
    const paired = pairBestFirst(
      seekers,
      function* (seeker): Generator<Found, void> {
        for (const target of nearestFirst(targets, seeker.at)) {
          made += 1
          yield { seeker, target }
        }
      },
      compare,
    )
    expect(paired.size).toBe(1_000)
    expect(made).toBeLessThan(3_000)
  })
})
