/** Ordinary weeks and leaked keys. `npm run test:soak` tries 200 weeks. */
import { expect, test } from 'vitest'
import { type Account, makeAccount, randomFrom, tenthOf, watch, withAttacks } from '../../test/burst-weeks.ts'

const WEEKS = process.env.BACKSTOP_TEST_SOAK === undefined ? 8 : 200
const DAY = 86_400_000
const IN_TIME_MS = 5_000

const isNew = (seed: number) => seed % 5 === 0
const seeds = Array.from({ length: WEEKS }, (_, index) => index + 1)

test('no ordinary week has a burst that operations explain within the minute', () => {
  const wrong = seeds.flatMap(seed => {
    const account = makeAccount(seed, isNew(seed))
    return watch(account)
      .filter(({ explained, pending }) => explained * 2 > pending)
      .map(alarm => ({ account: account.name, ...alarm }))
  })
  expect(wrong).toEqual([])
})

test('a leaked key of an account whose software reports first is noticed within five seconds of its tenth refund', () => {
  const delays = seeds
    .map(seed => makeAccount(seed, false))
    .filter(({ habits }) => habits.every(habit => habit === 'first'))
    .flatMap(delaysOf)
  expect(delays.length).toBeGreaterThan(5)
  const inTime = delays.filter(delayMs => delayMs <= IN_TIME_MS)
  // The others are made at the hour of a batch (docs/storms.md).
  expect(inTime.length / delays.length).toBeGreaterThan(0.85)
})

/** From the tenth refund of each leaked key to its alarm; infinite without one before the second looks. */
function delaysOf(account: Account, seed: number): number[] {
  const random = randomFrom(1_000 + seed)
  const attacks = Array.from({ length: 7 }, (_, day) => ({
    perSecond: 25,
    at: account.judgedFrom + (day + 0.95 * random()) * DAY,
  }))
  const alarms = watch(withAttacks(account, attacks))
  return attacks.map(attack => {
    const alarm = alarms.find(({ at }) => at >= attack.at && at < attack.at + 60_000)
    return alarm === undefined ? Number.POSITIVE_INFINITY : alarm.at - tenthOf(attack)
  })
}
