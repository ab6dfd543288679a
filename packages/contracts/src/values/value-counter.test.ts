import { expect, test } from 'vitest'
import { ValueCounter } from './value-counter.ts'

function countOf(...values: (string | null | undefined)[]) {
  const counter = new ValueCounter<string, number>()
  for (const [index, value] of values.entries()) counter.add(value, index)
  return counter
}

test('the value of at least half of the items is the most common one, with its first item', () => {
  expect(countOf('a', 'b', 'b', null).most(4)).toEqual({ value: 'b', count: 2, first: 1 })
  expect(countOf('a', 'b', 'b', null, undefined).most(5)).toBeNull()
  expect(countOf('a', 'b').most(2)).toBeNull()
  expect(countOf('a').most(1)).toEqual({ value: 'a', count: 1, first: 0 })
  expect(countOf(null).most(1)).toBeNull()
})

test('the most frequent value comes first, and of 10,000 values no further ones are counted', () => {
  expect(countOf('a', 'b', 'b').all()).toEqual([
    { value: 'b', count: 2, first: 1 },
    { value: 'a', count: 1, first: 0 },
  ])
  expect(countOf(...Array.from({ length: 10_001 }, (_, index) => `${index}`), '0').all()).toHaveLength(10_000)
})
