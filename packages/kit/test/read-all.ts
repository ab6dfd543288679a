import { randomBytes } from 'node:crypto'
import type { TopicName } from '@backstop/contracts'
import type { IncomingMessage } from '../src/bus/bus.ts'
import type { TestStack } from './stack.ts'
import { until } from './until.ts'

/** Reads all messages of a topic with a separate consumer group, until `isEnough`. */
export async function readAll(
  stack: TestStack,
  topic: TopicName,
  isEnough: (messages: readonly IncomingMessage[]) => boolean,
  timeoutMs = 20_000,
): Promise<IncomingMessage[]> {
  const got: IncomingMessage[] = []
  const consumer = stack.bus().consumer({
    groupId: `read-${randomBytes(4).toString('hex')}`,
    topics: [topic],
    commit: 'accepted',
    async onBatch({ messages }) {
      got.push(...messages)
      return { accepted: messages.length }
    },
    onFatal() {},
  })
  await consumer.start()
  try {
    await until(`enough on ${topic}`, () => isEnough(got), { timeoutMs, seen: () => got.map(({ key }) => key) })
    return got
  } finally {
    await consumer.stop()
  }
}
