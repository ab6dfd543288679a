import { expect, test } from 'vitest'
import { createOneAtATime } from './one-at-a-time.ts'

test('work waits for earlier work of the same name, also if that failed, and for no other work', async () => {
  const oneAtATime = createOneAtATime()
  const seen: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = oneAtATime('a', async () => {
    await gate.promise
    seen.push('first')
    throw new Error('first')
  })
  const second = oneAtATime('a', async () => void seen.push('second'))
  await oneAtATime('b', async () => void seen.push('other'))
  expect(seen).toEqual(['other'])
  gate.resolve()
  await expect(first).rejects.toThrow('first')
  await second
  expect(seen).toEqual(['other', 'first', 'second'])
  expect(await oneAtATime('a', async () => 7)).toBe(7)
})
