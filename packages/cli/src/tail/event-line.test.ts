import { expect, test } from 'vitest'
import { eventLine } from './event-line.ts'

test('an event is one line without characters that change the terminal', () => {
  const data = { incident_id: 'inc_1', state: 'open', summary: 'Refund\u001b[2J of EUR 5.00\nby nobody' }
  expect(eventLine('incident', data)).toBe('incident    inc_1 open: Refund<U+001B>[2J of EUR 5.00 by nobody')
})
