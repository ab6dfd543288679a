import { expect, test } from 'vitest'
import { createObjectHistory } from './object-history.ts'

test('returns the state of an object at any earlier time', () => {
  let nowMs = 1_000
  const history = createObjectHistory<{ id: string; state: string }>(() => nowMs)
  history.put({ id: 'a', state: 'new' })
  const first = history.asOf(1_000)
  nowMs = 2_000
  history.put({ id: 'a', state: 'old' })
  history.put({ id: 'b', state: 'new' })
  expect(history.asOf(999).get('a')).toBeUndefined()
  expect(history.asOf(999).all()).toEqual([])
  expect([first.get('a'), first.get('b'), first.all()]).toEqual([
    { id: 'a', state: 'new' },
    undefined,
    [{ id: 'a', state: 'new' }],
  ])
  const now = [
    { id: 'a', state: 'old' },
    { id: 'b', state: 'new' },
  ]
  expect(history.asOf(2_000).all()).toEqual(now)
  expect(history.all()).toEqual(now)
})
