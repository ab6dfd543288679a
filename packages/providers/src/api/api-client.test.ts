/** Requests to a provider that does not answer have short timeouts and growing pauses, until the provider answers again. */

import { Secret } from '@backstop/kit/config'
import type { Egress, EgressRequest } from '@backstop/kit/egress'
import { AppError } from '@backstop/kit/errors'
import { createManualClock } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { PROVIDERS } from '../registry.ts'

const MINUTE = 60_000
type Reply = { status: number; headers?: Record<string, string>; body?: unknown } | 'nothing'

const PAGE: Reply = { status: 200, body: { object: 'list', data: [], has_more: false } }

function setUp(first: Reply = 'nothing') {
  const clock = createManualClock()
  const provider = { reply: first, tookMs: 0 }
  const requests: { at: number; timeoutMs: number }[] = []
  const from = clock.now()
  const egress: Egress = {
    checkUrl: () => undefined,
    async request({ timeoutMs = 0 }: EgressRequest) {
      requests.push({ at: clock.now() - from, timeoutMs })
      const { reply } = provider
      if (provider.tookMs > 0) await new Promise<void>(resolve => clock.schedule(provider.tookMs, resolve))
      if (reply === 'nothing') {
        throw new AppError('unavailable', 'No answer', { retryable: true, details: { reason: 'deadline' } })
      }
      const { status, headers = {}, body = {} } = reply
      return { status, headers, body: Buffer.from(JSON.stringify(body)), complete: true }
    },
    stop: async () => {},
  }
  const reader = PROVIDERS.processor.readBack.open({
    readKey: new Secret('rk_test'),
    site: null,
    apiBase: 'http://127.0.0.1:1',
    egress,
    clock,
    random: () => 1,
  })
  /** Reads a page of a sweep. A failed request is not retried. */
  const sweep = () => reader.changes(null, clock.now())
  const timeouts = () => requests.map(({ timeoutMs }) => timeoutMs)
  return { clock, provider, reader, requests, sweep, timeouts }
}

describe('a provider that does not answer', () => {
  test('gets a third of the usual timeout until it answers, and the full timeout after every fourth failure', async () => {
    const { clock, provider, reader, sweep, timeouts } = setUp()
    expect(reader.health).toBe('untried')
    for (let count = 0; count < 6; count++) {
      await sweep()
      await clock.advance(MINUTE)
    }
    expect(timeouts()).toEqual([5_000, 5_000, 5_000, 5_000, 15_000, 5_000])
    expect(reader.health).toBe('failing')
    provider.reply = PAGE
    await sweep()
    expect(reader.health).toBe('answering')
    await sweep()
    expect(timeouts().slice(6)).toEqual([5_000, 15_000])
  })

  test('gets no request for a pause that doubles after each failure, up to 30 s', async () => {
    const { clock, requests, sweep } = setUp()
    for (let seconds = 0; seconds < 600; seconds++) {
      const asked = sweep()
      await clock.advance(250)
      await asked
    }
    const waits = requests.map(({ at }, index) => at - (requests[index - 1]?.at ?? 0)).slice(1)
    expect(waits.slice(0, 9)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  test('is reported with its last failure and the remaining time during a pause', async () => {
    const { clock, requests, sweep } = setUp({ status: 503 })
    for (let count = 0; count < 7; count++) {
      await sweep()
      await clock.advance(MINUTE)
    }
    const before = requests.length
    await sweep()
    expect(await sweep()).toMatchObject({ kind: 'failed', failure: 'provider_unavailable', retryAfterMs: 30_000 })
    expect(requests).toHaveLength(before + 1)
  })

  test('does not count as failing if the deadline of a request left no time for the answer', async () => {
    const { clock, provider, reader, sweep } = setUp(PAGE)
    await sweep()
    provider.reply = 'nothing'
    provider.tookMs = 1_000
    const asked = reader.read([{ type: 'refund', id: 're_1' }], 1_000)
    await clock.advance(1_000)
    expect(await asked).toMatchObject({ failure: 'unreachable' })
    expect(reader.health).toBe('answering')
  })

  test('counts one failure for simultaneous requests', async () => {
    const { clock, provider, requests, reader } = setUp()
    provider.tookMs = 100
    const asked = Array.from({ length: 4 }, (_, id) => reader.read([{ type: 'refund', id: `re_${id}` }], 1_000))
    for (let times = 0; times < 30; times++) await clock.advance(50)
    await Promise.all(asked)
    expect(requests.slice(0, 8).map(({ at }) => at)).toEqual([0, 0, 0, 0, 350, 350, 350, 350])
  })

  test.each([429, 503])('gets no request before the time of its Retry-After (%i)', async status => {
    const { clock, provider, requests, sweep, reader } = setUp({ status, headers: { 'retry-after': '120' } })
    expect(await sweep()).toMatchObject({ retryAfterMs: 120_000 })
    provider.reply = PAGE
    expect(await reader.read([{ type: 'refund', id: 're_1' }], 10_000)).toMatchObject({ kind: 'failed' })
    expect(requests).toHaveLength(1)
    await clock.advance(120_000)
    expect(await sweep()).toMatchObject({ kind: 'page' })
  })

  test('gets retries until the deadline of the read', async () => {
    const { clock, provider, requests, reader } = setUp({ status: 503 })
    const asked = reader.read([{ type: 'refund', id: 're_1' }], 4_000)
    await clock.advance(1_000)
    provider.reply = { status: 200, body: { id: 're_1', object: 'refund' } }
    await clock.advance(3_000)
    expect(await asked).toMatchObject({ kind: 'read' })
    expect(requests.map(({ at }) => at)).toEqual([0, 250, 750, 1_750])
  })
})
