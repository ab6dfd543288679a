/** What a provider that does not answer costs: short waits, ever fewer requests, and all of it again once it answers. */
import type { Egress, EgressRequest } from '@backstop/kit'
import { AppError, Secret } from '@backstop/kit'
import { createManualClock } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { PROVIDERS } from '../registry.ts'

const MINUTE = 60_000
type Reply = { status: number; headers?: Record<string, string>; body?: unknown } | 'nothing'

const PAGE: Reply = { status: 200, body: { object: 'list', data: [], has_more: false } }

function setUp(first: Reply = 'nothing') {
  const clock = createManualClock()
  const world = { reply: first, tookMs: 0 }
  const requests: { at: number; timeoutMs: number }[] = []
  const from = clock.now()
  const egress: Egress = {
    checkUrl: () => undefined,
    async request({ timeoutMs = 0 }: EgressRequest) {
      requests.push({ at: clock.now() - from, timeoutMs })
      const { reply } = world
      if (world.tookMs > 0) await new Promise<void>(resolve => clock.schedule(world.tookMs, resolve))
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
  /** A page of a sweep, which is asked for once. */
  const sweep = () => reader.changes(null, clock.now())
  const timeouts = () => requests.map(({ timeoutMs }) => timeoutMs)
  return { clock, world, reader, requests, sweep, timeouts }
}

describe('a provider that does not answer', () => {
  test('is waited for a third of the usual time until it answers, and the usual time at every fourth failure', async () => {
    const { clock, world, reader, sweep, timeouts } = setUp()
    expect(reader.standing).toBe('untried')
    for (let count = 0; count < 6; count++) {
      await sweep()
      await clock.advance(MINUTE)
    }
    expect(timeouts()).toEqual([5_000, 5_000, 5_000, 5_000, 15_000, 5_000])
    expect(reader.standing).toBe('failing')
    world.reply = PAGE
    await sweep()
    expect(reader.standing).toBe('answering')
    await sweep()
    expect(timeouts().slice(6)).toEqual([5_000, 15_000])
  })

  test('is left alone after a failure, for ever longer, up to half a minute', async () => {
    const { clock, requests, sweep } = setUp()
    for (let seconds = 0; seconds < 600; seconds++) {
      const asked = sweep()
      await clock.advance(250)
      await asked
    }
    const waits = requests.map(({ at }, index) => at - (requests[index - 1]?.at ?? 0)).slice(1)
    expect(waits.slice(0, 9)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  test('is said to fail as it did while it is left alone, and for how long that is', async () => {
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

  test('is not held to fail when a request had no time left for its answer', async () => {
    const { clock, world, reader, sweep } = setUp(PAGE)
    await sweep()
    world.reply = 'nothing'
    world.tookMs = 1_000
    const asked = reader.read([{ type: 'refund', id: 're_1' }], 1_000)
    await clock.advance(1_000)
    expect(await asked).toMatchObject({ failure: 'unreachable' })
    expect(reader.standing).toBe('answering')
  })

  test('fails once for all requests that were under way together', async () => {
    const { clock, world, requests, reader } = setUp()
    world.tookMs = 100
    const asked = Array.from({ length: 4 }, (_, id) => reader.read([{ type: 'refund', id: `re_${id}` }], 1_000))
    for (let times = 0; times < 30; times++) await clock.advance(50)
    await Promise.all(asked)
    expect(requests.slice(0, 8).map(({ at }) => at)).toEqual([0, 0, 0, 0, 350, 350, 350, 350])
  })

  test.each([429, 503])('that says when to come again (%i) is not asked before', async status => {
    const { clock, world, requests, sweep, reader } = setUp({ status, headers: { 'retry-after': '120' } })
    expect(await sweep()).toMatchObject({ retryAfterMs: 120_000 })
    world.reply = PAGE
    expect(await reader.read([{ type: 'refund', id: 're_1' }], 10_000)).toMatchObject({ kind: 'failed' })
    expect(requests).toHaveLength(1)
    await clock.advance(120_000)
    expect(await sweep()).toMatchObject({ kind: 'page' })
  })

  test('is asked again within the time of a question', async () => {
    const { clock, world, requests, reader } = setUp({ status: 503 })
    const asked = reader.read([{ type: 'refund', id: 're_1' }], 4_000)
    await clock.advance(1_000)
    world.reply = { status: 200, body: { id: 're_1', object: 'refund' } }
    await clock.advance(3_000)
    expect(await asked).toMatchObject({ kind: 'read' })
    expect(requests.map(({ at }) => at)).toEqual([0, 250, 750, 1_750])
  })
})
