import { expect, test } from 'vitest'
import { TOPICS } from '../topics.ts'
import { DELAY_LINES, sendAt } from './delay-lines.ts'

test('a message for a delay line keeps its headers and gets the due time', () => {
  const message = { key: 'k', headers: { traceparent: 't' } }
  expect(sendAt('rechecks', message, 1_500)).toEqual({
    topic: 'rechecks',
    key: 'k',
    headers: { traceparent: 't', 'x-due-at': '1500' },
  })
})

test('every topic that the broker stamps holds messages until they are due', () => {
  const stamped = Object.entries(TOPICS).filter(([, { timestampType }]) => timestampType === 'LogAppendTime')
  const names = stamped.map(([name]) => name)
  expect(Object.keys(DELAY_LINES).toSorted()).toEqual(names.toSorted())
})
