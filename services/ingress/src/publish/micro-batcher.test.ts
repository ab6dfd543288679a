import type { OutgoingMessage } from '@backstop/kit/bus'
import { AppError, unavailable } from '@backstop/kit/errors'
import { createManualClock } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { ScriptedProducer } from '../../test/scripted-producer.ts'
import { MicroBatcher } from './micro-batcher.ts'
import type { BatcherLimits, PublishResult } from './topic-queue.ts'

const limits: BatcherLimits = {
  lingerMs: 2,
  batchMessages: 4,
  batchBytes: 1_000,
  sendsInFlight: 2,
  maxWaitMs: 100,
  maxMessages: 20,
  maxBytes: 5_000,
  deadlineMs: 2_500,
  probeIntervalMs: 500,
}
const kafkaUnavailable = unavailable('Kafka', new Error('connection refused'))
const message = (key: string, bytes = 10, topic: OutgoingMessage['topic'] = 'inbound.processor'): OutgoingMessage => ({
  topic,
  key,
  value: Buffer.alloc(bytes),
  headers: {},
})

function setUp(changed: Partial<BatcherLimits> = {}) {
  const clock = createManualClock()
  const producer = new ScriptedProducer()
  const outcomes: string[] = []
  const batcher = new MicroBatcher(producer, clock, { ...limits, ...changed }, (outcome, count) =>
    outcomes.push(`${outcome} ${count}`),
  )
  const results = new Map<string, PublishResult>()
  const publish = (...messages: OutgoingMessage[]) => {
    for (const each of messages) void batcher.publish(each).then(result => results.set(each.key, result))
  }
  const sent = () => producer.sends.map(({ messages }) => messages.map(({ key }) => key).join(''))
  return { clock, producer, batcher, outcomes, results, publish, sent }
}
const acknowledged = { kind: 'acknowledged' }

describe('the micro-batcher', () => {
  test('sends the messages of one linger time as one batch, and resolves each only after the ack', async () => {
    const { clock, producer, results, publish, sent } = setUp()
    publish(message('a'), message('b'))
    await clock.advance(1)
    publish(message('c'))
    expect(sent()).toEqual([])
    await clock.advance(1)
    expect(sent()).toEqual(['abc'])
    expect(results.size).toBe(0)
    producer.sends[0]?.ack()
    await clock.settle()
    expect([...results]).toEqual([
      ['a', acknowledged],
      ['b', acknowledged],
      ['c', acknowledged],
    ])
  })

  test('sends a full batch at once: by count and by bytes', async () => {
    const byCount = setUp()
    byCount.publish(...'abcde'.split('').map(key => message(key)))
    expect(byCount.sent()).toEqual(['abcd'])
    await byCount.clock.advance(2)
    expect(byCount.sent()).toEqual(['abcd', 'e'])

    const byBytes = setUp()
    byBytes.publish(message('a', 600), message('b', 600))
    expect(byBytes.sent()).toEqual(['a'])
    await byBytes.clock.advance(2)
    expect(byBytes.sent()).toEqual(['a', 'b'])
  })

  test('sends a message that is larger than a batch alone', () => {
    const { publish, sent } = setUp()
    publish(message('a', 4_000))
    expect(sent()).toEqual(['a'])
  })

  test('keeps the limit of sends in flight and batches the messages that wait meanwhile', async () => {
    const { clock, producer, publish, sent } = setUp()
    for (const key of 'abcd') {
      publish(message(key))
      await clock.advance(2)
    }
    expect(sent()).toEqual(['a', 'b'])
    producer.sends[0]?.ack()
    await clock.settle()
    expect(sent()).toEqual(['a', 'b', 'cd'])
  })

  test('delays no other topic while one hangs', async () => {
    const { clock, publish, sent } = setUp({ sendsInFlight: 1 })
    publish(message('a'))
    await clock.advance(2)
    publish(message('b'), message('r', 10, 'inbound.reseller'))
    await clock.advance(2)
    expect(sent()).toEqual(['a', 'r'])
  })

  test('refuses beyond its bounds, by count and by bytes, and counts what is in flight', async () => {
    const byCount = setUp({ maxMessages: 3 })
    byCount.publish(...'abcd'.split('').map(key => message(key)))
    await byCount.clock.advance(2)
    expect(byCount.results.get('d')).toEqual({ kind: 'overloaded', reason: 'queue_full' })
    expect(byCount.batcher.pending).toEqual({ messages: 3, bytes: 30 })

    const byBytes = setUp({ maxBytes: 100 })
    byBytes.publish(message('a', 60), message('b', 60), message('c', 40))
    await byBytes.clock.settle()
    expect([...byBytes.results.keys()]).toEqual(['b'])

    byCount.producer.sends[0]?.ack()
    await byCount.clock.settle()
    expect(byCount.batcher.pending).toEqual({ messages: 0, bytes: 0 })
  })

  test('judges its queue by the time of the last sends, for each topic by itself', async () => {
    const { clock, producer, batcher, publish } = setUp({ sendsInFlight: 1 })
    const queueUp = () => publish(...'abcd'.split('').map(key => message(key)))
    const judge = () => batcher.judge('inbound.processor')
    queueUp()
    queueUp()
    expect(judge()).toEqual({ kind: 'bearable' })
    await clock.advance(101)
    producer.sends[0]?.ack()
    await clock.settle()
    expect(judge()).toEqual({ kind: 'bearable' })
    queueUp()
    expect(judge()).toEqual({ kind: 'overloaded', reason: 'queue_wait' })
    expect(batcher.judge('inbound.reseller')).toEqual({ kind: 'bearable' })
    await clock.advance(99)
    producer.sends[1]?.ack()
    await clock.settle()
    queueUp()
    expect(judge()).toEqual({ kind: 'bearable' })
  })

  test('resolves each message at its own deadline while the broker is silent', async () => {
    const { clock, results, publish } = setUp()
    publish(message('a'))
    await clock.advance(1_000)
    publish(message('b'))
    await clock.advance(1_499)
    expect(results.size).toBe(0)
    await clock.advance(1)
    expect([...results]).toEqual([['a', { kind: 'unavailable', reason: 'not_acknowledged_in_time' }]])
    await clock.advance(1_000)
    expect(results.get('b')).toEqual({ kind: 'unavailable', reason: 'not_acknowledged_in_time' })
  })

  test('does not send messages whose deadline has passed', async () => {
    const { clock, producer, batcher, publish, sent } = setUp({ sendsInFlight: 1 })
    publish(message('a'))
    await clock.advance(10)
    publish(message('b'))
    await clock.advance(2_500)
    producer.sends[0]?.fail(kafkaUnavailable)
    await clock.settle()
    expect(sent()).toEqual(['a'])
    expect(batcher.pending).toEqual({ messages: 0, bytes: 0 })
  })

  test('fails fast while the broker is unavailable, probes, and recovers', async () => {
    const { clock, producer, results, publish, sent } = setUp()
    publish(message('a'))
    await clock.advance(2)
    producer.sends[0]?.fail(kafkaUnavailable)
    await clock.settle()
    expect(results.get('a')).toEqual({ kind: 'unavailable', reason: 'broker_unavailable' })

    publish(message('b'))
    await clock.settle()
    expect(results.get('b')).toEqual({ kind: 'unavailable', reason: 'broker_unavailable' })
    expect(sent()).toEqual(['a'])

    await clock.advance(500)
    publish(message('c'), message('d'))
    await clock.advance(2)
    expect(results.get('d')).toEqual({ kind: 'unavailable', reason: 'broker_unavailable' })
    expect(sent()).toEqual(['a', 'c'])
    producer.sends[1]?.ack()
    await clock.settle()
    expect(results.get('c')).toEqual(acknowledged)

    publish(message('e'))
    await clock.advance(2)
    producer.sends[2]?.ack()
    await clock.settle()
    expect(results.get('e')).toEqual(acknowledged)
  })

  test('sends the other messages when the broker refuses a batch for one of them', async () => {
    const { clock, producer, outcomes, results, publish } = setUp({ batchMessages: 10 })
    const tooLarge = new AppError('message_invalid', 'A message is larger than its topic allows')
    producer.answer = messages => (messages.some(({ key }) => key === 'c') ? tooLarge : undefined)
    publish(...'abcde'.split('').map(key => message(key)))
    await clock.advance(2)
    expect(Object.fromEntries(results)).toEqual({
      a: acknowledged,
      b: acknowledged,
      c: { kind: 'failed', error: tooLarge },
      d: acknowledged,
      e: acknowledged,
    })
    expect(outcomes[0]).toBe('failed 5')
  })

  test('reports an error that is no outage as failed, and keeps the breaker closed', async () => {
    const { clock, producer, results, publish } = setUp()
    publish(message('a'))
    await clock.advance(2)
    producer.sends[0]?.fail(new TypeError('a bug'))
    publish(message('b'))
    await clock.advance(2)
    producer.sends[1]?.ack()
    await clock.settle()
    expect(results.get('a')).toMatchObject({ kind: 'failed' })
    expect(results.get('b')).toEqual(acknowledged)
  })

  test('stops only when every accepted message has its result, and accepts no more', async () => {
    const { clock, producer, batcher, results, publish, sent } = setUp({ sendsInFlight: 1, batchMessages: 2 })
    publish(...'abc'.split('').map(key => message(key)))
    let stopped = false
    const stopping = batcher.stop().then(() => {
      stopped = true
    })
    publish(message('x'))
    await clock.settle()
    expect(results.get('x')).toEqual({ kind: 'unavailable', reason: 'stopping' })
    expect(sent()).toEqual(['ab'])
    producer.sends[0]?.ack()
    await clock.settle()
    expect(stopped).toBe(false)
    expect(sent()).toEqual(['ab', 'c'])
    producer.sends[1]?.ack()
    await stopping
    expect(results.get('c')).toEqual(acknowledged)
    await clock.advance(5_000)
    expect(results.size).toBe(4)
  })
})
