import { describe, expect, test } from 'vitest'
import { traceIdOf, traceparentOf } from './traceparent.ts'

const VALID = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
const newIds = () => '1'.repeat(32) + '2'.repeat(16)
const MADE = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`

describe('the trace of a notification', () => {
  test("is the sender's when it is valid", () => {
    expect(traceparentOf(VALID, newIds)).toBe(VALID)
    expect(traceIdOf(VALID)).toBe('0af7651916cd43dd8448eb211c80319c')
  })

  test.each([
    { name: 'absent', incoming: undefined },
    { name: 'empty', incoming: '' },
    { name: 'of an unknown version', incoming: VALID.replace('00-', 'ff-') },
    { name: 'in upper case', incoming: VALID.toUpperCase() },
    { name: 'with an all-zero trace id', incoming: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` },
    { name: 'with an all-zero span id', incoming: `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01` },
    { name: 'longer', incoming: `${VALID}-x` },
    { name: 'with a line break', incoming: `${VALID}\n` },
  ])('is a new one when it is $name', ({ incoming }) => {
    expect(traceparentOf(incoming, newIds)).toBe(MADE)
  })
})
