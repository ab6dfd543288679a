import { HEADERS } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { createMemoryRecorder } from '../../test/memory-recorder.ts'
import { AppError } from '../errors.ts'
import { readTraceparent, traceIdOf } from './traceparent.ts'
import { createTracing } from './tracing.ts'

const SENDER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

function start(ratio: number) {
  const recorder = createMemoryRecorder()
  return { recorder, tracing: createTracing(recorder, ratio) }
}

describe('a new trace', () => {
  test('is recorded at the configured share', () => {
    const { tracing } = start(0.1)
    const sampled = Array.from({ length: 20_000 }, () => tracing.start('x', { kind: 'server' })).filter(
      ({ isSampled }) => isSampled,
    )
    expect(sampled.length).toBeGreaterThan(1_700)
    expect(sampled.length).toBeLessThan(2_300)
  })

  test.each([
    { ratio: 0, isSampled: false },
    { ratio: 1, isSampled: true },
  ])('is recorded always or never at the shares 1 and 0 ($ratio)', ({ ratio, isSampled }) => {
    const { tracing } = start(ratio)
    for (let count = 0; count < 1_000; count += 1) {
      const span = tracing.start('x', { kind: 'server' })
      expect(span.isSampled).toBe(isSampled)
      expect(readTraceparent(span.traceparent)?.isSampled).toBe(isSampled)
    }
  })

  test('is not recorded because its sender says so', () => {
    const { tracing, recorder } = start(0)
    const span = tracing.start('x', { kind: 'server', sender: SENDER })
    span.end()
    expect(span.isSampled).toBe(false)
    expect(traceIdOf(span.traceparent)).not.toBe(traceIdOf(SENDER))
    expect(recorder.finished).toEqual([])
  })

  test('links to the trace of its sender, and keeps its own ids', () => {
    const { tracing, recorder } = start(1)
    tracing.start('x', { kind: 'server', sender: SENDER }).end()
    expect(recorder.finished).toMatchObject([{ parent: undefined, links: [{ traceId: traceIdOf(SENDER) }] }])
    expect(recorder.finished[0]?.traceId).not.toBe(traceIdOf(SENDER))
  })

  test('ignores an invalid traceparent of its sender', () => {
    const { tracing, recorder } = start(1)
    tracing.start('x', { kind: 'server', sender: `${SENDER}, ${SENDER}` }).end()
    expect(recorder.finished).toMatchObject([{ links: [] }])
  })
})

describe('the span of a message', () => {
  const headersOf = (traceparent: string, more: Record<string, string> = {}) => ({
    [HEADERS.traceparent]: traceparent,
    ...more,
  })

  test('is part of the trace of its sender', () => {
    const { tracing, recorder } = start(0)
    tracing.continueFrom('process x', 'consumer', headersOf(SENDER))?.end()
    expect(recorder.finished).toMatchObject([
      { name: 'process x', traceId: traceIdOf(SENDER), parent: { spanId: 'b7ad6b7169203331' }, links: [] },
    ])
  })

  test('starts a recorded trace with a link after a delay line, at any share', () => {
    const { tracing, recorder } = start(0)
    tracing.continueFrom('process x', 'consumer', headersOf(SENDER, { [HEADERS.dueAt]: '1' }))?.end()
    expect(recorder.finished).toMatchObject([{ parent: undefined, links: [{ spanId: 'b7ad6b7169203331' }] }])
    expect(recorder.finished[0]?.traceId).not.toBe(traceIdOf(SENDER))
  })

  test('carries an unrecorded trace on, also after a delay line', () => {
    const { tracing, recorder } = start(1)
    const unsampled = SENDER.replace(/01$/, '00')
    for (const more of [{}, { [HEADERS.dueAt]: '1' }]) {
      const span = tracing.continueFrom('process x', 'consumer', headersOf(unsampled, more))
      span?.end()
      expect(span).toMatchObject({ traceparent: unsampled, isSampled: false })
    }
    expect(recorder.finished).toEqual([])
  })

  test.each([{}, headersOf('nonsense')])('does not exist if the message carries no trace (%o)', headers => {
    expect(start(1).tracing.continueFrom('process x', 'consumer', headers)).toBeUndefined()
  })
})

test('a failed span has the code of its error and never its message, which may quote a payload', () => {
  const { tracing, recorder } = start(1)
  tracing.start('a', { kind: 'client' }).end(new AppError('unavailable', 'ada@example.com is unavailable'))
  tracing.start('b', { kind: 'client' }).end(new TypeError('ada@example.com'))
  tracing.start('c', { kind: 'client' }).end('receiver_failed')
  tracing.start('d', { kind: 'client' }).end()
  const codes = recorder.finished.map(({ errorCode }) => errorCode)
  expect(codes).toEqual(['unavailable', 'TypeError', 'receiver_failed', undefined])
})

test('a part of an unrecorded span is the same span', () => {
  const { tracing } = start(0)
  const span = tracing.start('a', { kind: 'server' })
  expect(tracing.start('b', { kind: 'producer', parent: span })).toBe(span)
})
