import { expect, test } from 'vitest'
import { unavailable } from '../errors.ts'
import { joinCalls } from './join-calls.ts'

test('calls of one turn of the event loop run together', async () => {
  const runs: (readonly number[])[] = []
  const call = joinCalls(async (items: readonly number[]) => {
    runs.push(items)
    return items.length
  })
  expect(await Promise.all([call([1, 2]), call([3])])).toEqual([3, 3])
  expect(await call([4])).toBe(1)
  expect(runs).toEqual([[1, 2, 3], [4]])
})

test('a run with 500 items takes no further call', async () => {
  const sizes: number[] = []
  const call = joinCalls(async (items: readonly number[]) => void sizes.push(items.length))
  const some = Array.from({ length: 250 }, (_, index) => index)
  await Promise.all([call(some), call(some), call(some)])
  expect(sizes).toEqual([500, 250])
})

test('an unusable item fails only its own call', async () => {
  const call = joinCalls(async (items: readonly string[]) => {
    if (items.includes('unusable')) throw new Error('unusable')
    return items
  })
  const [first, second, third] = await Promise.allSettled([call(['a']), call(['unusable']), call(['b'])])
  expect(first).toEqual({ status: 'fulfilled', value: ['a'] })
  expect(second).toMatchObject({ status: 'rejected', reason: { message: 'unusable' } })
  expect(third).toEqual({ status: 'fulfilled', value: ['b'] })
})

test('an error that is retryable fails all calls of the run, without a repeat', async () => {
  let runs = 0
  const call = joinCalls(async (_items: readonly string[]) => {
    runs++
    throw unavailable('MongoDB', new Error('away'))
  })
  const results = await Promise.allSettled([call(['a']), call(['b'])])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(runs).toBe(1)
})
