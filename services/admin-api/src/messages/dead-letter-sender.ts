import type { DeadLetterDocument, TopicName } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'

/** Publishes dead letters to their original topics. */
export interface DeadLetterSender {
  /** @throws AppError `unavailable` if the message could not be published */
  send(letter: DeadLetterDocument): Promise<void>
}

export function createDeadLetterSender(producer: Producer): DeadLetterSender {
  return {
    // The headers keep the original topic and position, so if the message fails again, it becomes the same dead letter.
    send: ({ topic, key, value, headers }) =>
      producer.send([
        { topic: topic as TopicName, key, value: value === null ? null : Buffer.from(value, 'base64'), headers },
      ]),
  }
}
