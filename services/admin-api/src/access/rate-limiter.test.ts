import { expect, test } from 'vitest'
import { RateLimiter } from './rate-limiter.ts'

const T0 = 1_000_000

test('allows the quota in each window, and says what remains and when the window ends', () => {
  const limiter = new RateLimiter({ name: 'key', quota: 2, windowMs: 60_000 })
  expect(limiter.take('a', T0)).toEqual({
    kind: 'allowed',
    name: 'key',
    quota: 2,
    windowS: 60,
    remaining: 1,
    resetS: 60,
  })
  expect(limiter.take('a', T0 + 20_500)).toMatchObject({ kind: 'allowed', remaining: 0, resetS: 40 })
  expect(limiter.take('a', T0 + 59_999)).toMatchObject({ kind: 'exceeded', remaining: 0, resetS: 1 })
  expect(limiter.take('a', T0 + 60_000)).toMatchObject({ kind: 'allowed', remaining: 1 })
})

test('counts each sender separately', () => {
  const limiter = new RateLimiter({ name: 'key', quota: 1, windowMs: 60_000 })
  limiter.take('a', T0)
  expect(limiter.take('a', T0)).toMatchObject({ kind: 'exceeded' })
  expect(limiter.take('b', T0)).toMatchObject({ kind: 'allowed' })
})

test('forgets only the oldest senders when there are very many', () => {
  const limiter = new RateLimiter({ name: 'address', quota: 1, windowMs: 60_000 })
  for (let sender = 0; sender <= 50_000; sender++) limiter.take(`s${sender}`, T0)
  expect(limiter.take('s50000', T0)).toMatchObject({ kind: 'exceeded' })
  expect(limiter.take('s0', T0)).toMatchObject({ kind: 'allowed' })
})
