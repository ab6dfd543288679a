import type { MessageName, MessageOf, TopicName } from '@backstop/contracts'

/** A decoded message with where it came from; `name` tells its type. */
export type Received<N extends MessageName = MessageName> = {
  [K in N]: {
    readonly name: K
    readonly message: MessageOf<K>
    readonly headers: Readonly<Record<string, string>>
    readonly key: string
    readonly topic: TopicName
    readonly partition: number
    readonly offset: bigint
    /** When this process took the message from the broker, in milliseconds since the epoch. */
    readonly receivedAtMs: number
  }
}[N]
