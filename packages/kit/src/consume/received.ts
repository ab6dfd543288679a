import type { MessageName, MessageOf, TopicName } from '@backstop/contracts'

/** A decoded message with its origin. `name` is the message type. */
export type Received<N extends MessageName = MessageName> = {
  [K in N]: {
    readonly name: K
    readonly message: MessageOf<K>
    readonly headers: Readonly<Record<string, string>>
    readonly key: string
    readonly topic: TopicName
    readonly partition: number
    readonly offset: bigint
    /** When it was sent, in milliseconds since the epoch. */
    readonly timestampMs: number
    /** When this process received the message from the broker, in milliseconds since the epoch. */
    readonly receivedAtMs: number
  }
}[N]
