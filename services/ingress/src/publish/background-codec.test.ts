import { AppError, unavailable } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { createFixedCodec, createManualClock } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { createBackgroundCodec } from './background-codec.ts'

test.each([
  { name: 'an unavailable registry', error: unavailable('The schema registry', undefined) },
  { name: 'a registry that refuses the credentials', error: new AppError('internal', 'The registry answered 401') },
  { name: 'an unexpected error', error: new URIError('URI malformed') },
])('stays unavailable and opens again after $name', async ({ error }) => {
  const clock = createManualClock(0)
  const lines: string[] = []
  let calls = 0
  const open = async () => {
    calls++
    if (calls === 1) throw error
    return createFixedCodec()
  }
  const codec = createBackgroundCodec(open, clock, createLogger('ingress', 'info', { write: line => lines.push(line) }))
  await clock.settle()
  expect(() => codec.schemaId('inbound-event')).toThrow(expect.objectContaining({ code: 'unavailable' }))
  expect(lines).toEqual([expect.stringContaining(error.message)])
  await clock.advance(5_000)
  expect(codec.schemaId('inbound-event')).toBeGreaterThan(0)
  await codec.stop()
})
