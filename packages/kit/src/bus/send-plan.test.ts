import { describe, expect, test } from 'vitest'
import type { OutgoingMessage } from './bus.ts'
import { planRequests } from './send-plan.ts'

const MIB = 1_048_576

function ofBytes(bytes: number, key = 'k'): OutgoingMessage {
  return { topic: 'operations', key, value: Buffer.alloc(bytes), headers: {} }
}

describe('cutting a send into requests', () => {
  test.each([
    { name: 'nothing is no request', sizes: [], requests: [] },
    { name: 'small messages share one', sizes: [1_000, 1_000, 1_000], requests: [3] },
    { name: 'a request stays below 1 MiB', sizes: [MIB / 2, MIB / 4, MIB / 2], requests: [2, 1] },
    { name: 'a large message goes alone', sizes: [10, 2 * MIB - 1_000, 10], requests: [1, 1, 1] },
  ])('$name', ({ sizes, requests }) => {
    const plan = planRequests(sizes.map(size => ofBytes(size)))
    expect(plan.map(request => request.length)).toEqual(requests)
  })

  test('the order of messages stays', () => {
    const messages = Array.from({ length: 50 }, (_, number) => ofBytes(100_000, `k${number}`))
    expect(planRequests(messages).flat()).toEqual(messages)
  })

  test('a message too large for its topic is refused before any message is sent', () => {
    expect(() => planRequests([ofBytes(10), ofBytes(2 * MIB)])).toThrow(/exceeds the limit of operations/)
  })

  test('a dead-letter topic accepts every message of other topics, with the reason added', () => {
    const headers = { 'x-error-message': 'e'.repeat(500), 'x-original-topic': 'operations' }
    const dead: OutgoingMessage = { ...ofBytes(2 * MIB - 200), topic: 'inbound.dead', headers }
    expect(planRequests([dead])).toHaveLength(1)
  })
})
