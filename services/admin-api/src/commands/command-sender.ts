import { type Command, type DeadLetterDocument, HEADERS, type TopicName } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import { type Clock, sleep } from '@backstop/kit/clock'
import type { MessageCodec } from '@backstop/kit/registry'

/** Sends commands to the service that owns the data. */
export interface CommandSender {
  /**
   * @returns when the broker has acknowledged all commands
   * @throws AppError `unavailable` if a command could not be published; the caller may retry with the same ids
   */
  send(commands: readonly Command[]): Promise<void>
}

export function createCommandSender({
  producer,
  codec,
}: {
  readonly producer: Producer
  readonly codec: Pick<MessageCodec, 'encode'>
}): CommandSender {
  return {
    async send(commands) {
      if (commands.length === 0) return
      await producer.send(
        commands.map(command => ({
          topic: 'commands' as const,
          key: targetOf(command),
          value: codec.encode('command', command),
          headers: { [HEADERS.messageId]: command.command_id },
        })),
      )
    },
  }
}

/** Commands about one target keep their order, so they share a partition. */
function targetOf(command: Command): string {
  if ('address' in command) return `${command.project_id}/${command.address.trim().toLowerCase()}`
  if ('delivery_id' in command) return command.delivery_id
  if ('operation_id' in command) return command.operation_id
  if (command.kind === 'change_incidents') return command.bulk_id
  if (command.kind === 'change_incident') return command.incident_id
  if ('connection_id' in command) return command.connection_id
  if ('expected_change_id' in command) return command.expected_change_id
  if ('key_id' in command) return command.key_id
  if ('erasure_id' in command) return command.erasure_id
  if (command.kind === 'mark_replayed' || command.kind === 'archive_actions') return command.project_id
  return command.channel_id
}

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

/** Waits for the outcome of a message in the documents of the service that processes it. */
export interface OutcomeWatcher {
  /**
   * Polls until there is an outcome.
   * @param timeoutMs limit of the wait, in milliseconds
   * @param signal ends the wait
   * @returns undefined if the wait ended without an outcome
   */
  waitFor<T>(poll: () => Promise<T | undefined>, timeoutMs: number, signal: AbortSignal): Promise<T | undefined>
}

/** Pause between two reads: short at first, because most outcomes come quickly, then longer. */
const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 500

/** @param longestMs upper limit of every wait in milliseconds, with which tests shorten the waits */
export function createOutcomeWatcher(clock: Clock, longestMs = Number.POSITIVE_INFINITY): OutcomeWatcher {
  return {
    async waitFor(poll, timeoutMs, signal) {
      const deadline = clock.now() + Math.min(timeoutMs, longestMs)
      for (let pauseMs = FIRST_PAUSE_MS; clock.now() < deadline && !signal.aborted; ) {
        const seen = await poll()
        if (seen !== undefined) return seen
        await sleep(clock, pauseMs, signal)
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      }
      return undefined
    },
  }
}
