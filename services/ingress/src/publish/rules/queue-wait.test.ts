import { expect, test } from 'vitest'
import { judgeQueue, type QueueState } from './queue-wait.ts'

const limits = { batchMessages: 200, batchBytes: 700_000, sendsInFlight: 2, maxWaitMs: 100 }
const recentSendsMs = [50, 900, 60]
const tooLong = { kind: 'overloaded', reason: 'queue_wait' } as const
const bearable = { kind: 'bearable' } as const

test.each<{ name: string; state: QueueState; expected: ReturnType<typeof judgeQueue> }>([
  { name: 'nothing was sent yet', state: { messages: 9_000, bytes: 9e6, recentSendsMs: [] }, expected: bearable },
  {
    name: 'the next send takes everything, however slow it is',
    state: { messages: 199, bytes: 300_000, recentSendsMs: [2_000] },
    expected: bearable,
  },
  {
    name: 'as many batches as sends during the longest wait',
    state: { messages: 999, bytes: 9_999, recentSendsMs },
    expected: bearable,
  },
  { name: 'one batch more', state: { messages: 1_000, bytes: 9_999, recentSendsMs }, expected: tooLong },
  { name: 'batches of few large messages', state: { messages: 5, bytes: 3_500_000, recentSendsMs }, expected: tooLong },
  {
    name: 'a quick send after slow ones',
    state: { messages: 1_000, bytes: 9_999, recentSendsMs: [900, 900, 5] },
    expected: bearable,
  },
])('judges the queue: $name', ({ state, expected }) => {
  expect(judgeQueue(state, limits)).toEqual(expected)
})
