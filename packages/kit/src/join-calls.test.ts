import { expect, test } from 'vitest'
import { lostRace, unavailable } from './errors.ts'
import { joinCalls, joinItems } from './join-calls.ts'

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

test.each([
  { what: 'an unusable item', error: new Error('unusable') },
  { what: 'an item that other writers change too', error: lostRace('case c1') },
])('$what fails only its own call', async ({ error }) => {
  const call = joinCalls(async (items: readonly string[]) => {
    if (items.includes('failing')) throw error
    return items
  })
  const [first, second, third] = await Promise.allSettled([call(['a']), call(['failing']), call(['b'])])
  expect(first).toEqual({ status: 'fulfilled', value: ['a'] })
  expect(second).toEqual({ status: 'rejected', reason: error })
  expect(third).toEqual({ status: 'fulfilled', value: ['b'] })
})

test('an unavailable dependency fails all calls of the run, without a repeat', async () => {
  let runs = 0
  const call = joinCalls(async (_items: readonly string[]) => {
    runs++
    throw unavailable('MongoDB', new Error('away'))
  })
  const results = await Promise.allSettled([call(['a']), call(['b'])])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(runs).toBe(1)
})

test.each([1, () => 1])(
  'calls gather in the next run while the allowed number of runs is in progress',
  async maxRuns => {
    const first = Promise.withResolvers<void>()
    const runs: (readonly string[])[] = []
    const run = async (items: readonly string[]) => {
      runs.push(items)
      if (items.includes('slow')) await first.promise
    }
    const call = joinCalls(run, { maxRuns })
    const slow = call(['slow'])
    await expect.poll(() => runs).toEqual([['slow']])
    const others = [call(['a'])]
    await new Promise(resolve => setImmediate(resolve))
    others.push(call(['b']))
    await new Promise(resolve => setImmediate(resolve))
    expect(runs).toEqual([['slow']])
    first.resolve()
    await Promise.all([slow, ...others])
    expect(runs).toEqual([['slow'], ['a', 'b']])
  },
)

test('calls with one item each run together, and each gets the result of its own item', async () => {
  const runs: (readonly string[])[] = []
  const lengthOf = joinItems(async (texts: readonly string[]) => {
    runs.push(texts)
    return texts.map(text => text.length)
  })
  expect(await Promise.all([lengthOf('a'), lengthOf('bcd'), lengthOf('a')])).toEqual([1, 3, 1])
  expect(runs).toEqual([['a', 'bcd', 'a']])
})
