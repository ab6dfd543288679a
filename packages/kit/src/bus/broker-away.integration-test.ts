import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type KafkaProxy, startKafkaProxy } from '../../test/kafka-proxy.ts'
import { createCollectingLogger } from '../../test/log-lines.ts'
import { type TestStack, testStack } from '../../test/stack.ts'
import { until } from '../../test/until.ts'

const topic = 'operations'

let stack: TestStack
let proxy: KafkaProxy
const cleanUp: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  stack = await testStack()
  await stack.createTopics([topic], 2)
})
afterAll(() => stack.close())
beforeEach(async () => {
  proxy = await startKafkaProxy(stack.kafkaBrokers[0]!)
})
afterEach(async () => {
  proxy.mode = 'pass'
  for (const act of cleanUp.splice(0).reverse()) await act()
  await proxy.stop()
})

/** Creates a consumer behind the proxy, and a producer that does not use the proxy. */
async function startConsumerBehindProxy(groupId: string) {
  const { translateAddress } = proxy
  const lines = createCollectingLogger()
  const fatal: unknown[] = []
  const got = new Set<string>()
  const consumer = stack.bus({ translateAddress, logger: lines.logger }).consumer({
    ...{ groupId, topics: [topic], commit: 'accepted', drainTimeoutMs: 1_000 },
    async onBatch({ messages }) {
      for (const { key } of messages) got.add(key)
      return { accepted: messages.length }
    },
    onFatal: error => void fatal.push(error),
  })
  await consumer.start()
  cleanUp.push(() => consumer.stop())
  const producer = stack.bus().producer({ sendTimeoutMs: 5_000 })
  await producer.start()
  cleanUp.push(() => producer.stop())
  const send = (key: string) => producer.send([{ topic, key, value: Buffer.from(key), headers: {} }])
  return { consumer, lines, fatal, got, send }
}

describe('a consumer continues without a restart of the process', () => {
  test.each([
    { name: 'refused connections for a while', mode: 'refuse', downMs: 3_000 },
    { name: 'swallowed everything in silence for a while', mode: 'black_hole', downMs: 7_000 },
    // Longer than the session timeout: the broker has reassigned the partitions and removed the member.
    { name: 'was unavailable for longer than the session timeout', mode: 'refuse', downMs: 9_000 },
  ] as const)('when the broker $name', async ({ mode, downMs }) => {
    const { consumer, fatal, got, send } = await startConsumerBehindProxy(`away-${mode}-${downMs}`)
    await send(`before-${mode}-${downMs}`)
    await until('it works', () => got.has(`before-${mode}-${downMs}`))
    proxy.mode = mode
    if (mode === 'refuse') proxy.cutAll()
    const downAt = performance.now()
    let longestStill = 0
    await until(
      'the broker was away long enough',
      () => {
        longestStill = Math.max(longestStill, consumer.msSinceProgress())
        return performance.now() - downAt > downMs
      },
      { timeoutMs: downMs + 5_000, everyMs: 50 },
    )
    await send(`during-${mode}-${downMs}`)
    proxy.mode = 'pass'
    await until('it works again', () => got.has(`during-${mode}-${downMs}`), { timeoutMs: 60_000 })
    expect(fatal).toEqual([])
    // The consumer loop kept running, so the liveness check stays green while a dependency is unavailable.
    expect(longestStill).toBeLessThan(20_000)
  })

  test('when its connections are closed repeatedly', async () => {
    const { fatal, got, send } = await startConsumerBehindProxy('cut')
    for (let round = 0; round < 6; round += 1) {
      await send(`cut-${round}`)
      await until(`message ${round} came`, () => got.has(`cut-${round}`), { timeoutMs: 30_000 })
      proxy.cutAll()
    }
    expect(fatal).toEqual([])
  })

  test('when it starts while the broker is unavailable', async () => {
    proxy.mode = 'refuse'
    const { consumer, lines, fatal, got, send } = await startConsumerBehindProxy('cold')
    await send('cold')
    await until('it tried', () => lines.count('consumer.rebuilt') >= 2)
    expect(consumer.msSinceProgress()).toBeLessThan(10_000)
    proxy.mode = 'pass'
    await until('it works', () => got.has('cold'), { timeoutMs: 30_000 })
    expect(fatal).toEqual([])
  })
})

test('a consumer stops within a time limit while the broker is unavailable', async () => {
  const { consumer, got, send } = await startConsumerBehindProxy('stop-away')
  await send('stop-away')
  await until('it works', () => got.has('stop-away'))
  proxy.mode = 'black_hole'
  const startedAt = performance.now()
  await consumer.stop()
  expect(performance.now() - startedAt).toBeLessThan(15_000)
})

test('every acknowledged message arrives after repeated network faults', async () => {
  const { translateAddress } = proxy
  const fatal: unknown[] = []
  const got = new Set<string>()
  const members = [1, 2].map(() =>
    stack.bus({ translateAddress }).consumer({
      ...{ groupId: 'chaos', topics: [topic], commit: 'accepted', maxBatchMessages: 10, drainTimeoutMs: 1_000 },
      async onBatch({ messages }) {
        for (const { key } of messages) got.add(key)
        return { accepted: messages.length }
      },
      onFatal: error => void fatal.push(error),
    }),
  )
  for (const member of members) {
    await member.start()
    cleanUp.push(() => member.stop())
  }
  const producer = stack.bus({ translateAddress }).producer({ sendTimeoutMs: 3_000 })
  await producer.start()
  cleanUp.push(() => producer.stop())
  const acknowledged: string[] = []
  let sent = 0
  /** Sends messages for this time. Refused messages are not counted. */
  const sendFor = async (ms: number) => {
    for (const until = performance.now() + ms; performance.now() < until; ) {
      const keys = Array.from({ length: 20 }, () => `chaos-${sent++}`)
      await producer.send(keys.map(key => ({ topic, key, value: Buffer.from(key), headers: {} }))).then(
        () => acknowledged.push(...keys),
        () => undefined,
      )
    }
  }
  await until('it works', async () => {
    await sendFor(50)
    return got.size > 0
  })
  for (let round = 0; round < 4; round += 1) {
    // Cuts connections during transfers, so that parts of requests and responses are lost.
    for (let cut = 0; cut < 5; cut += 1) {
      proxy.cutAll()
      await sendFor(60)
    }
    void proxy.loseNextProduceAnswer()
    await sendFor(200)
    proxy.mode = round % 4 === 3 ? 'black_hole' : 'refuse'
    proxy.cutAll()
    await sendFor(500)
    proxy.mode = 'pass'
    await sendFor(300)
  }
  const missing = () => acknowledged.filter(key => !got.has(key)).length
  await until('all came', () => missing() === 0, { timeoutMs: 60_000, seen: missing })
  expect(acknowledged.length).toBeGreaterThan(1_000)
  expect(fatal).toEqual([])
})
