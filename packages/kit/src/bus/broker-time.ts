import type { TopicName } from '@backstop/contracts'
import type { Producer as KafkajsProducer } from 'kafkajs'
import type { TimeSource } from '../clock/measured-clock.ts'
import { waitUntilSettled, withDeadline } from '../clock/with-deadline.ts'
import { AppError, unavailable } from '../errors.ts'
import { describeMissingKafkaRight, isAnswer, principalOf } from './kafka-errors.ts'
import { createKafkajsClient, type KafkaConnection } from './kafkajs-client.ts'

const TOPIC: TopicName = 'clocks'
/** Time limit of one reading, including the connection, in milliseconds. */
const READ_MS = 8_000
const DISCONNECT_MS = 2_000

/**
 * Reads the clock of the broker that leads the topic `clocks`. Kafka has no request for the time, but the answer to a
 * produce request contains the time at which the broker appended the record, if the topic's timestamp type is
 * LogAppendTime. The leader's acknowledgement is enough (acks=1), because the record carries no data.
 */
export function createBrokerTime(connection: KafkaConnection, topicPrefix: string): TimeSource {
  let producer: KafkajsProducer | undefined

  /** Drops a failed client, which may hang without end. The next reading creates a new one. */
  async function discard(): Promise<void> {
    const unused = producer
    producer = undefined
    if (unused !== undefined) await waitUntilSettled(unused.disconnect(), DISCONNECT_MS)
  }

  async function connect(): Promise<KafkajsProducer> {
    if (producer !== undefined) return producer
    const client = createKafkajsClient(connection, { retries: 0, initialRetryTime: 50 })
    const created = client.producer({ idempotent: false, allowAutoTopicCreation: false, retry: { retries: 0 } })
    producer = created
    await created.connect()
    return created
  }

  async function append(): Promise<number> {
    const connected = await connect()
    const record = { key: null, value: Buffer.alloc(0) }
    const [answer] = await connected.send({ topic: topicPrefix + TOPIC, acks: 1, messages: [record] })
    const appendedAtMs = Number(answer?.logAppendTime ?? -1)
    if (appendedAtMs >= 0) return appendedAtMs
    throw new AppError(
      'config_invalid',
      `The topic ${topicPrefix}${TOPIC} needs the timestamp type LogAppendTime: run the deploy job`,
    )
  }

  return {
    async read() {
      try {
        return await withDeadline(append(), READ_MS, () => new Error(`No answer within ${READ_MS} ms`))
      } catch (error) {
        await discard()
        const needed = {
          principal: principalOf(connection),
          topics: [topicPrefix + TOPIC],
          operation: 'write',
        } as const
        const missing = describeMissingKafkaRight(error, needed)
        if (missing !== undefined) throw new AppError('config_invalid', missing, { cause: error })
        throw isAnswer(error) ? error : unavailable('Kafka', error)
      }
    },
    stop: discard,
  }
}
