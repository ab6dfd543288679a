import type { OutgoingMessage, Producer } from '@backstop/kit/bus'

/** A producer whose sends the test answers. */
export class ScriptedProducer implements Producer {
  readonly sends: { messages: readonly OutgoingMessage[]; ack(): void; fail(error: unknown): void }[] = []
  /** Answers each send at once, if set. */
  answer: ((messages: readonly OutgoingMessage[]) => unknown) | undefined

  async start(): Promise<void> {}
  async stop(): Promise<void> {}

  send(messages: readonly OutgoingMessage[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.sends.push({ messages, ack: () => resolve(), fail: reject })
      const error = this.answer?.(messages)
      if (this.answer !== undefined) error === undefined ? resolve() : reject(error)
    })
  }
}
