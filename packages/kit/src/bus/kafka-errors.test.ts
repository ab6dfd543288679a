import kafkajs from 'kafkajs'
import { describe, expect, test } from 'vitest'
import { AppError } from '../errors.ts'
import {
  classifyConsumerError,
  classifySendError,
  describeKafkaError,
  describeMissingKafkaRight,
  mayBeRepeated,
  meansRejoin,
} from './kafka-errors.ts'

/** An error like those of kafkajs, which are distinguished by name and type and contain their cause. */
function kafkajsError(name: string, type?: string, cause?: Error): Error {
  return Object.assign(new Error(`${name} was thrown`, { cause }), { name, type })
}

const needed = { principal: 'user notifier', topics: ['alerts'], operation: 'write', group: 'notifier' } as const

describe('what a failed send means', () => {
  test.each([
    { name: 'a lost connection may come back', error: kafkajsError('KafkaJSConnectionError'), code: 'unavailable' },
    {
      name: 'so may too few replicas',
      error: kafkajsError('KafkaJSProtocolError', 'NOT_ENOUGH_REPLICAS'),
      code: 'unavailable',
    },
    { name: 'a topic may still be made', error: kafkajsError('X', 'UNKNOWN_TOPIC_OR_PARTITION'), code: 'unavailable' },
    {
      name: 'a message stays too large',
      error: kafkajsError('KafkaJSProtocolError', 'MESSAGE_TOO_LARGE'),
      code: 'message_invalid',
    },
    {
      name: 'also when that lies inside other errors',
      error: kafkajsError('KafkaJSNumberOfRetriesExceeded', undefined, kafkajsError('X', 'RECORD_LIST_TOO_LARGE')),
      code: 'message_invalid',
    },
  ])('$name', ({ error, code }) => {
    const classified = classifySendError(error, needed)
    expect(classified.code).toBe(code)
    expect(classified.retryable).toBe(code === 'unavailable')
  })

  test('an error of ours stays as it is', () => {
    const own = new AppError('message_invalid', 'A message is too large')
    expect(classifySendError(own, needed)).toBe(own)
  })
})

describe('the same request may succeed later', () => {
  const answer = (type: string, retriable: boolean) =>
    new kafkajs.KafkaJSProtocolError(Object.assign(new Error(type), { type, retriable }))
  const election = answer('LEADER_NOT_AVAILABLE', true)
  const noRight = answer('TOPIC_AUTHORIZATION_FAILED', false)
  const timedOut = new kafkajs.KafkaJSRequestTimeoutError('Request CreateTopics(key: 19, version: 3) timed out')

  test.each([
    { name: 'during an election', error: election, later: true },
    {
      name: 'also when it was repeated in vain',
      error: new kafkajs.KafkaJSNumberOfRetriesExceeded(election, { retryCount: 3, retryTime: 800 }),
      later: true,
    },
    { name: 'after no answer in time', error: timedOut, later: true },
    { name: 'but not without the right', error: noRight, later: false },
    {
      name: 'if it failed for several topics for such a reason',
      error: new kafkajs.KafkaJSAggregateError('Topic errors', [election, election]),
      later: true,
    },
    {
      name: 'but not if it failed for one of them for ever',
      error: new kafkajs.KafkaJSAggregateError('Topic errors', [election, noRight]),
      later: false,
    },
    { name: 'but not after an error of the program', error: new TypeError('x is not a function'), later: false },
  ])('$name', ({ error, later }) => {
    expect(mayBeRepeated(error)).toBe(later)
  })
})

test.each([
  { type: 'TOPIC_AUTHORIZATION_FAILED', topics: ['alerts'], access: 'write alerts' },
  { type: 'TOPIC_AUTHORIZATION_FAILED', topics: ['alerts', 'commands'], access: 'write one of alerts, commands' },
  { type: 'GROUP_AUTHORIZATION_FAILED', topics: ['alerts'], access: 'use the consumer group notifier' },
  {
    type: 'CLUSTER_AUTHORIZATION_FAILED',
    topics: ['alerts'],
    access: 'do what it must (CLUSTER_AUTHORIZATION_FAILED)',
  },
])(
  'a missing right at Kafka is named with user, operation and resource: $type, $access',
  ({ type, topics, access }) => {
    const error = kafkajsError('KafkaJSNumberOfRetriesExceeded', undefined, kafkajsError('KafkaJSProtocolError', type))
    const message = `Kafka does not let the user notifier ${access}: give it this right (docs/rights.md)`
    expect(describeMissingKafkaRight(error, { ...needed, topics })).toBe(message)
    expect(classifySendError(error, { ...needed, topics })).toMatchObject({
      code: 'unavailable',
      retryable: true,
      message,
    })
  },
)

describe('whether a broken consumer is built anew', () => {
  test.each([
    { name: 'after a lost connection', error: kafkajsError('KafkaJSConnectionError'), kind: 'transient' },
    {
      name: 'after kafkajs gave up on a coordinator that restarts',
      error: kafkajsError('KafkaJSNonRetriableError', undefined, kafkajsError('KafkaJSGroupCoordinatorNotFound')),
      kind: 'transient',
    },
    {
      name: 'while its topics do not exist yet',
      error: kafkajsError('K', 'UNKNOWN_TOPIC_OR_PARTITION'),
      kind: 'unknown',
    },
    {
      name: 'while its topics do not exist yet, as kafkajs says it',
      error: kafkajsError('KafkaJSProtocolError', 'UNKNOWN_TOPIC_OR_PARTITION'),
      kind: 'transient',
    },
    { name: 'not with wrong credentials', error: kafkajsError('KafkaJSSASLAuthenticationError'), kind: 'refused' },
    {
      name: 'not without the right to read',
      error: kafkajsError('KafkaJSProtocolError', 'TOPIC_AUTHORIZATION_FAILED'),
      kind: 'fatal',
    },
    { name: 'not for a codec that it lacks', error: kafkajsError('KafkaJSNotImplemented'), kind: 'fatal' },
    {
      name: 'a few times after a fault inside kafkajs',
      error: kafkajsError('KafkaJSNonRetriableError', undefined, new TypeError('undefined')),
      kind: 'unknown',
    },
    { name: 'a few times after what is no error at all', error: 'text', kind: 'unknown' },
  ])('$name', ({ error, kind }) => {
    expect(classifyConsumerError(error).kind).toBe(kind)
  })
})

test('a member is asked to rejoin by each of the answers that mean it', () => {
  for (const type of ['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID']) {
    expect(meansRejoin(kafkajsError('KafkaJSProtocolError', type))).toBe(true)
  }
  expect(meansRejoin(kafkajsError('KafkaJSConnectionError'))).toBe(false)
})

test('an error is described in one line with each cause once', () => {
  const inner = kafkajsError('Inner')
  expect(describeKafkaError(kafkajsError('Outer', undefined, inner))).toBe(
    'Outer: Outer was thrown; caused by Inner: Inner was thrown',
  )
})
