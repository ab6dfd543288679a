import { HEADERS, type Recheck } from '@backstop/contracts'
import { afterEach, describe, expect, test } from 'vitest'
import { createFixedCodec } from '../../test/fixed-codec.ts'
import { createManualClock } from '../../test/manual-clock.ts'
import { createMemoryBus, type SendResult } from '../../test/memory-bus.ts'
import { AppError, unavailable } from '../errors.ts'
import { createLogger } from '../logger.ts'
import { createMetrics } from '../ops/metrics.ts'
import type { MessageCodec } from '../registry/message-codec.ts'
import { createConsumerMetrics } from './consumer-metrics.ts'
import type { Received } from './received.ts'
import { createWorkLoop, type DeadLetterLog, type WorkContext } from './work-loop.ts'

const logger = createLogger('test', 'silent')
const GROUP = 'reconciler'

type Handle = (messages: Received<'recheck'>[], context: WorkContext) => Promise<void>

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

function setUp(handle: Handle, codec: MessageCodec = createFixedCodec(), deadLetterLog?: DeadLetterLog) {
  const clock = createManualClock()
  let fate: SendResult = 'stored'
  const bus = createMemoryBus({
    clock,
    partitions: 1,
    sendResultOf: messages => (messages[0]?.topic === 'inbound.dead' ? fate : 'stored'),
  })
  const producer = bus.producer({ sendTimeoutMs: 1_000 })
  const calls: string[][] = []
  const metrics = createConsumerMetrics(createMetrics('test'))
  const loop = createWorkLoop({
    ...{ bus, producer, codec, clock, logger, metrics, groupId: GROUP, deadTopic: 'inbound.dead' as const },
    topics: { 'rechecks.due': 'recheck' },
    ...(deadLetterLog === undefined ? {} : { deadLetterLog }),
    handle(messages, context) {
      calls.push(messages.map(({ message }) => message.look_id))
      return handle(messages, context)
    },
    onFatal: error => {
      throw error
    },
  })
  stops.push(() => loop.stop())
  const send = (...values: (string | Buffer | null)[]) =>
    producer.send(
      values.map(value => ({
        topic: 'rechecks.due',
        key: 'k',
        value: typeof value === 'string' ? codec.encode('recheck', recheck(value)) : value,
        headers: { [HEADERS.messageId]: 'm' },
      })),
    )
  const committed = () => bus.committed(GROUP, 'rechecks.due').get(0)
  const dead = () => bus.stored('inbound.dead')
  const setSendResult = (next: SendResult) => {
    fate = next
  }
  return { clock, bus, loop, calls, send, committed, dead, setSendResult }
}

function recheck(lookId: string): Recheck {
  return { project_id: 'prj', ref: 'r', look_id: lookId, due_at: '2026-01-01T00:00:00.000Z' }
}

/** Fails permanently for the named looks. */
function failingOn(...bad: string[]): Handle {
  return async messages => {
    const found = messages.find(({ message }) => bad.includes(message.look_id))
    if (found !== undefined) throw new TypeError(`Cannot handle ${found.message.look_id}`)
  }
}

describe('a batch that works', () => {
  test('is handed over decoded, with all that is known of it, and then committed', async () => {
    const received: Received<'recheck'>[] = []
    const { clock, loop, send, committed } = setUp(async messages => void received.push(...messages))
    await send('a', 'b')
    await loop.start()
    await clock.settle()
    expect(received[0]).toEqual({
      ...{ name: 'recheck', message: recheck('a'), key: 'k', topic: 'rechecks.due', partition: 0, offset: 0n },
      ...{ headers: { [HEADERS.messageId]: 'm' }, timestampMs: clock.now(), receivedAtMs: clock.now() },
    })
    expect(received).toHaveLength(2)
    expect(committed()).toBe(2n)
  })
})

describe('a message that cannot be decoded', () => {
  test('is dead-lettered with its bytes, key, headers and reason, while the rest goes on in order', async () => {
    const { clock, loop, calls, send, committed, dead } = setUp(async () => undefined)
    const junk = Buffer.from('no frame at all')
    await send('a', junk, 'b')
    await loop.start()
    await clock.settle()
    expect(calls).toEqual([['a', 'b']])
    expect(committed()).toBe(3n)
    expect(dead()).toHaveLength(1)
    expect(dead()[0]).toMatchObject({
      key: 'k',
      value: junk,
      headers: {
        [HEADERS.messageId]: 'm',
        [HEADERS.originalTopic]: 'rechecks.due',
        [HEADERS.originalPartition]: '0',
        [HEADERS.originalOffset]: '1',
        [HEADERS.errorCode]: 'message_invalid',
      },
    })
  })

  test.each([
    { name: 'no value', value: null },
    { name: 'JSON that is cut off', value: Buffer.concat([Buffer.from([0, 0, 0, 0, 3]), Buffer.from('{"a":')]) },
    { name: 'JSON of another shape', value: Buffer.concat([Buffer.from([0, 0, 0, 0, 3]), Buffer.from('{"a":1}')]) },
    {
      name: 'a schema of another message type',
      value: createFixedCodec().encode('recheck', recheck('a')).fill(9, 4, 5),
    },
  ])('is dead-lettered when it is $name', async ({ value }) => {
    const { clock, loop, calls, send, committed, dead } = setUp(async () => undefined)
    await send(value)
    await loop.start()
    await clock.settle()
    expect(calls).toEqual([])
    expect(dead()).toHaveLength(1)
    expect(committed()).toBe(1n)
  })

  test('is not acknowledged before the broker has its dead letter', async () => {
    const { clock, loop, send, committed, dead, setSendResult } = setUp(async () => undefined)
    setSendResult('refused')
    await send(Buffer.from('junk'))
    await loop.start()
    await clock.advance(60_000)
    expect(committed()).toBeUndefined()
    setSendResult('stored')
    await clock.advance(30_000)
    expect(dead()).toHaveLength(1)
    expect(committed()).toBe(1n)
  })

  test('waits, and is not dead-lettered, when its schema cannot be looked up now', async () => {
    const fixed = createFixedCodec()
    let isDown = true
    const codec: MessageCodec = {
      ...fixed,
      async decode(name, bytes) {
        const message = await fixed.decode(name, bytes)
        if (isDown && JSON.stringify(message).includes('new')) throw unavailable('The schema registry', undefined)
        return message
      },
    }
    const { clock, loop, calls, send, committed, dead } = setUp(async () => undefined, codec)
    await send('a', 'new', 'b')
    await loop.start()
    await clock.advance(5_000)
    expect(calls).toEqual([['a']])
    expect(committed()).toBe(1n)
    isDown = false
    await clock.advance(30_000)
    expect(calls.at(-1)).toEqual(['new', 'b'])
    expect(dead()).toHaveLength(0)
    expect(committed()).toBe(3n)
  })
})

describe('an unavailable dependency', () => {
  test('defers the batch, longer each time up to 10 s, and loses no message', async () => {
    let isDown = true
    const { clock, loop, calls, send, committed, dead } = setUp(async () => {
      if (isDown) throw unavailable('MongoDB', undefined)
    })
    await send('a', 'b')
    await loop.start()
    await clock.settle()
    const gaps: number[] = []
    for (let last = clock.now(); calls.length < 12; ) {
      const before = calls.length
      await clock.advance(50)
      if (calls.length > before) {
        gaps.push(clock.now() - last)
        last = clock.now()
      }
    }
    expect(gaps.slice(0, 4)).toEqual([250, 500, 1_000, 2_000])
    expect(Math.max(...gaps)).toBe(10_000)
    expect(committed()).toBeUndefined()
    isDown = false
    await clock.advance(30_000)
    expect(committed()).toBe(2n)
    expect(dead()).toHaveLength(0)
  })

  test('starts again with the shortest pause after a success', async () => {
    let isDown = true
    const { clock, loop, calls, send, committed } = setUp(async () => {
      if (isDown) throw unavailable('MongoDB', undefined)
    })
    await send('a')
    await loop.start()
    await clock.advance(10_000)
    isDown = false
    await clock.advance(30_000)
    expect(committed()).toBe(1n)
    isDown = true
    await send('b')
    await clock.settle()
    const before = calls.length
    await clock.advance(250)
    expect(calls.length).toBe(before + 1)
  })
})

describe('a message that alone makes the work fail', () => {
  test.each([
    { name: 'first', bad: 'a' },
    { name: 'in the middle', bad: 'c' },
    { name: 'last', bad: 'e' },
  ])('is found and dead-lettered when it is $name, and every other is handled exactly once', async ({ bad }) => {
    const handled: string[] = []
    const handle: Handle = async (messages, context) => {
      await failingOn(bad)(messages, context)
      handled.push(...messages.map(({ message }) => message.look_id))
    }
    const { clock, loop, send, committed, dead } = setUp(handle)
    await send('a', 'b', 'c', 'd', 'e')
    await loop.start()
    await clock.settle()
    expect(handled).toEqual(['a', 'b', 'c', 'd', 'e'].filter(look => look !== bad))
    expect(dead().map(({ headers }) => headers[HEADERS.originalOffset])).toEqual([String('abcde'.indexOf(bad))])
    expect(dead()[0]!.headers).toMatchObject({
      [HEADERS.errorCode]: 'internal',
      [HEADERS.errorMessage]: `Cannot handle ${bad}`,
    })
    expect(committed()).toBe(5n)
  })

  test('keeps its code when it is an error of ours', async () => {
    const { clock, loop, send, dead } = setUp(async () => {
      throw new AppError('conflict', 'The versions differ')
    })
    await send('a')
    await loop.start()
    await clock.settle()
    expect(dead()[0]!.headers[HEADERS.errorCode]).toBe('conflict')
  })

  test('is dead-lettered beside one that cannot be decoded, both with their own reason', async () => {
    const { clock, loop, send, committed, dead } = setUp(failingOn('b'))
    await send(Buffer.from('junk'), 'b', 'c')
    await loop.start()
    await clock.settle()
    expect(dead().map(({ headers }) => headers[HEADERS.errorCode])).toEqual(['message_invalid', 'internal'])
    expect(committed()).toBe(3n)
  })

  test('leads to a slow-down, not to a flood of dead letters, when it is every message', async () => {
    const { clock, loop, send, committed, dead } = setUp(async () => {
      throw new Error('A dependency that does not say that it is away')
    })
    await send(...Array.from({ length: 35 }, (_, number) => `look-${number}`))
    await loop.start()
    await clock.settle()
    expect(dead()).toHaveLength(10)
    expect(committed()).toBe(10n)
    await clock.advance(29_000)
    expect(dead()).toHaveLength(10)
    await clock.advance(1_000)
    expect(dead()).toHaveLength(20)
  })

  test('delays no other message if the messages themselves are invalid, even for many in a row', async () => {
    const { clock, loop, send, committed, dead } = setUp(async messages => {
      if (messages.length > 0) throw new AppError('message_invalid', 'The event is malformed')
    })
    await send(...Array.from({ length: 35 }, (_, number) => `look-${number}`))
    await loop.start()
    await clock.settle()
    expect(dead()).toHaveLength(35)
    expect(committed()).toBe(35n)
  })

  test('does not hide a dependency that fails during the search', async () => {
    let isDown = false
    const { clock, loop, calls, send, committed, dead } = setUp(async (messages, context) => {
      if (isDown) throw unavailable('MongoDB', undefined)
      if (calls.length === 2) isDown = true
      await failingOn('d')(messages, context)
    })
    await send('a', 'b', 'c', 'd')
    await loop.start()
    await clock.settle()
    expect(calls).toEqual([
      ['a', 'b', 'c', 'd'],
      ['a', 'b'],
      ['c', 'd'],
    ])
    expect(committed()).toBe(2n)
    expect(dead()).toHaveLength(0)
    isDown = false
    await clock.advance(250)
    expect(committed()).toBe(4n)
    expect(dead()).toHaveLength(1)
  })
})

describe('a loop that records its dead letters', () => {
  /** A dead-letter log in memory: recorded messages by their bytes, and a switch that makes it unavailable. */
  function openBook() {
    const entered: { text: string; reason: string; deadBefore: number }[] = []
    const repeated: string[] = []
    const state = { isDown: false, dead: () => 0 }
    const textOf = ({ value }: { value: Buffer | null }) => String(value).slice(0, 4)
    const book: DeadLetterLog = {
      known: async messages =>
        new Set(messages.filter(message => entered.some(({ text }) => text === textOf(message)))),
      async record(unusable) {
        if (state.isDown) throw unavailable('MongoDB', undefined)
        for (const { message, error } of unusable) {
          entered.push({ text: textOf(message), reason: (error as Error).message, deadBefore: state.dead() })
        }
      },
      async recordAgain(unusable) {
        for (const { message } of unusable) repeated.push(textOf(message))
      },
    }
    return { book, entered, repeated, state }
  }

  test('records each with its reason after the broker has the dead letter, and then acknowledges it', async () => {
    const { book, entered, state } = openBook()
    const { clock, loop, send, committed, dead } = setUp(failingOn('b'), undefined, book)
    state.dead = () => dead().length
    state.isDown = true
    await send(Buffer.from('junk'), 'b')
    await loop.start()
    await clock.settle()
    expect(dead()).toHaveLength(2)
    expect(committed()).toBeUndefined()
    state.isDown = false
    await clock.advance(30_000)
    expect(entered.map(({ text, deadBefore }) => [text, deadBefore > 0])).toContainEqual(['junk', true])
    expect(entered.map(({ reason }) => reason)).toContain('Cannot handle b')
    expect(committed()).toBe(2n)
  })

  test('does not dead-letter a message a second time, and reports the repeat', async () => {
    const { book, entered, repeated } = openBook()
    const { clock, loop, calls, send, committed, dead } = setUp(async () => undefined, undefined, book)
    await send(Buffer.from('junk'))
    await loop.start()
    await clock.settle()
    await send(Buffer.from('junk'), 'a')
    await clock.settle()
    expect(dead()).toHaveLength(1)
    expect(entered).toHaveLength(1)
    expect(repeated).toEqual(['junk'])
    expect(calls).toEqual([['a']])
    expect(committed()).toBe(3n)
  })
})

test('work that ends because the loop stops is neither dead-lettered nor acknowledged', async () => {
  const { clock, loop, send, committed, dead } = setUp(
    (_messages, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('interrupted')))
      }),
  )
  await send('a')
  await loop.start()
  await clock.settle()
  await loop.stop()
  expect(dead()).toHaveLength(0)
  expect(committed()).toBeUndefined()
})
