import { expect, test } from 'vitest'
import { createShelf } from './object-history.ts'

test('an object can be read as it stood at any time, whatever became of it since', () => {
  let nowMs = 1_000
  const shelf = createShelf<{ id: string; state: string }>(() => nowMs)
  shelf.put({ id: 'a', state: 'new' })
  const first = shelf.asOf(1_000)
  nowMs = 2_000
  shelf.put({ id: 'a', state: 'old' })
  shelf.put({ id: 'b', state: 'new' })
  expect(shelf.asOf(999).get('a')).toBeUndefined()
  expect(shelf.asOf(999).all()).toEqual([])
  expect([first.get('a'), first.get('b'), first.all()]).toEqual([
    { id: 'a', state: 'new' },
    undefined,
    [{ id: 'a', state: 'new' }],
  ])
  const now = [
    { id: 'a', state: 'old' },
    { id: 'b', state: 'new' },
  ]
  expect(shelf.asOf(2_000).all()).toEqual(now)
  expect(shelf.all()).toEqual(now)
})
