import { expect, test } from 'vitest'
import { createTurns } from './turns.ts'

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
  const takeTurn = createTurns(2)
  const works = ['a', 'b', 'c', 'd'].map(name => createWork(name, log))
  const ended = works.map(({ run }) => takeTurn(run, never))
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
  const takeTurn = createTurns(1)
  const [first, second, third] = ['first', 'second', 'third'].map(name => createWork(name, log)) as [Work, Work, Work]
  const running = takeTurn(first.run, never)
  const left = new AbortController()
  const leaving = takeTurn(second.run, left.signal)
  const waiting = takeTurn(third.run, never)
  left.abort(new Error('disconnected'))
  await expect(leaving).rejects.toThrow('disconnected')
  first.finish()
  third.finish()
  await Promise.all([running, waiting])
  expect(log).toEqual(['first', 'third'])
})
type Work = ReturnType<typeof createWork>

test('failing work gives its turn to the next', async () => {
  const takeTurn = createTurns(1)
  const failing = takeTurn(() => Promise.reject(new Error('failed')), never)
  const next = takeTurn(async () => 'done', never)
  await expect(failing).rejects.toThrow('failed')
  expect(await next).toBe('done')
})
