import { expect, test } from 'vitest'
import { ClosedConnections } from './live-credentials.ts'

test('three closed connections in a row at one server are suspicious', () => {
  const closed = new ClosedConnections()
  expect([closed.note('a', true), closed.note('a', true), closed.note('a', true)]).toEqual([false, false, true])
})

test('one closed connection at each of many servers is not suspicious, and an answer ends a row', () => {
  const closed = new ClosedConnections()
  const noted = ['a', 'b', 'c', 'a', 'b', 'c'].map(host => closed.note(host, true))
  closed.note('a', false)
  expect([...noted, closed.note('a', true)]).not.toContain(true)
  expect(closed.note('b', true)).toBe(true)
})
