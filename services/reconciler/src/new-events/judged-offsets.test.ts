import { expect, test } from 'vitest'
import { JudgedOffsets } from './judged-offsets.ts'

const place = (offset: number, partition = 0) => ({ topic: 'inbound.processor', partition, offset: BigInt(offset) })

test('has the messages that were added, and no others', () => {
  const judged = new JudgedOffsets()
  for (const offset of [5, 6, 7, 10, 6, 11]) judged.add(place(offset))
  const has = Array.from({ length: 13 }, (_, offset) => offset).filter(offset => judged.has(place(offset)))
  expect(has).toEqual([5, 6, 7, 10, 11])
  expect(judged.has(place(5, 1))).toBe(false)
})

test('has none after it was cleared', () => {
  const judged = new JudgedOffsets()
  judged.add(place(1))
  judged.clear()
  expect(judged.has(place(1))).toBe(false)
})

test('forgets the oldest of many messages that do not follow each other', () => {
  const judged = new JudgedOffsets()
  for (let offset = 0; offset <= 200; offset += 2) judged.add(place(offset))
  expect([0, 2, 200].map(offset => judged.has(place(offset)))).toEqual([false, true, true])
})
