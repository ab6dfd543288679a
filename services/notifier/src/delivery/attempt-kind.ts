import { HEADERS } from '@backstop/contracts'
import type { IncomingMessage } from '@backstop/kit/bus'
import type { AttemptKind } from '../queue/channel-queues.ts'
import { dueAtMs } from './plan-intake.ts'

/** What a message asks for, from its headers: a message that is postponed need not be decoded. */
export function attemptKindOf(message: IncomingMessage): AttemptKind {
  if (message.headers[HEADERS.attempt] !== '1') return 'retry'
  return dueAtMs(message) === null ? 'first' : 'held_first'
}
