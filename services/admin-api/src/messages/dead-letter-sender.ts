import type { DeadLetterDocument, TopicName } from '@backstop/contracts'
import type { Producer } from '@backstop/kit'

/** Sends parked messages to where they lay first. */
export interface DeadLetterSender {
  /** @throws AppError `unavailable` when it could not be handed on */
  send(letter: DeadLetterDocument): Promise<void>
}

/** Creates the sender of dead letters. */
export function createDeadLetterSender(producer: Producer): DeadLetterSender {
  return {
    // It keeps the headers that say where it lay first: if it dies again, it is the same letter.
    send: ({ topic, key, value, headers }) =>
      producer.send([
        { topic: topic as TopicName, key, value: value === null ? null : Buffer.from(value, 'base64'), headers },
      ]),
  }
}
