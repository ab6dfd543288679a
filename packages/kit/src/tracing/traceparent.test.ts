import { describe, expect, test } from 'vitest'
import { readTraceparent, traceIdOf, writeTraceparent } from './traceparent.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const SPAN_ID = 'b7ad6b7169203331'
const VALID = `00-${TRACE_ID}-${SPAN_ID}-01`

describe('a traceparent', () => {
  test('is read into its trace, its span and the sampled flag', () => {
    expect(readTraceparent(VALID)).toEqual({ traceId: TRACE_ID, spanId: SPAN_ID, isSampled: true })
    expect(readTraceparent(VALID.replace(/01$/, '02'))?.isSampled).toBe(false)
  })

  test('is written as it is read', () => {
    expect(writeTraceparent(TRACE_ID, SPAN_ID, true)).toBe(VALID)
    expect(readTraceparent(writeTraceparent(TRACE_ID, SPAN_ID, false))?.isSampled).toBe(false)
    expect(traceIdOf(VALID)).toBe(TRACE_ID)
  })

  test.each([
    { name: 'absent', text: undefined },
    { name: 'empty', text: '' },
    { name: 'of an unknown version', text: VALID.replace('00-', 'ff-') },
    { name: 'in upper case', text: VALID.toUpperCase() },
    { name: 'with an all-zero trace id', text: `00-${'0'.repeat(32)}-${SPAN_ID}-01` },
    { name: 'with an all-zero span id', text: `00-${TRACE_ID}-${'0'.repeat(16)}-01` },
    { name: 'longer', text: `${VALID}-x` },
    { name: 'with a line break', text: `${VALID}\n` },
  ])('is not read when it is $name', ({ text }) => {
    expect(readTraceparent(text)).toBeUndefined()
  })
})
