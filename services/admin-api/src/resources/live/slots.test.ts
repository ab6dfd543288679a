import { expect, test } from 'vitest'
import { createSlots } from './slots.ts'

const never = new AbortController().signal

/** Work that ends when `finish` is called. */
function createWork(name: string, log: string[]) {
  const { promise, resolve } = Promise.withResolvers<void>()
  return {
    finish: resolve,
    run: async () => {
      log.push(name)
      await promise
    },
  }
}

test('runs work in the order of the calls, and no more at once than allowed', async () => {
  const log: string[] = []
  const takeSlot = createSlots(2)
  const works = ['a', 'b', 'c', 'd'].map(name => createWork(name, log))
  const ended = works.map(({ run }) => takeSlot(run, never))
  expect(log).toEqual(['a', 'b'])
  works[1]?.finish()
  await ended[1]
  await expect.poll(() => log).toEqual(['a', 'b', 'c'])
  for (const { finish } of works) finish()
  await Promise.all(ended)
  expect(log).toEqual(['a', 'b', 'c', 'd'])
})

test('work whose signal is aborted while it waits is not run, and takes no turn', async () => {
  const log: string[] = []
  const takeSlot = createSlots(1)
  const [first, second, third] = ['first', 'second', 'third'].map(name => createWork(name, log)) as [Work, Work, Work]
  const running = takeSlot(first.run, never)
  const left = new AbortController()
  const leaving = takeSlot(second.run, left.signal)
  const waiting = takeSlot(third.run, never)
  left.abort(new Error('disconnected'))
  await expect(leaving).rejects.toThrow('disconnected')
  first.finish()
  third.finish()
  await Promise.all([running, waiting])
  expect(log).toEqual(['first', 'third'])
})
type Work = ReturnType<typeof createWork>

test('failing work gives its turn to the next', async () => {
  const takeSlot = createSlots(1)
  const failing = takeSlot(() => Promise.reject(new Error('failed')), never)
  const next = takeSlot(async () => 'done', never)
  await expect(failing).rejects.toThrow('failed')
  expect(await next).toBe('done')
})
