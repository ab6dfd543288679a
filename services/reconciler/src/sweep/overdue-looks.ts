import { HEADERS, type Recheck } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { MessageCodec } from '@backstop/kit/registry'
import { pendingLooks, recheckEntry } from '@backstop/verdict'
import type { CaseStore } from '../cases/case-store.ts'

/** Short, because a lost message delays an alert by up to this time. */
const SWEEP_EVERY_MS = 15_000
const MAX_CASES = 500

export interface OverdueLooksParts {
  readonly cases: Pick<CaseStore, 'withOverdueLook'>
  readonly producer: Producer
  readonly codec: Pick<MessageCodec, 'encode'>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Requests looks again whose message or answer was lost, and looks that are due later than a delay line can hold a
 * message. A repeated request has no effect.
 */
export function createOverdueLooks(parts: OverdueLooksParts): Periodic {
  const { clock, logger } = parts

  async function sweep(): Promise<void> {
    const now = clock.now()
    const overdue = await parts.cases.withOverdueLook(now, MAX_CASES)
    const entries = overdue.flatMap(theCase =>
      pendingLooks(theCase)
        .filter(look => look.wakeAt <= now)
        .map(look => recheckEntry(theCase, look.lookId, look.dueAt, now)),
    )
    if (entries.length === 0) return
    await parts.producer.send(
      entries.map(entry => ({
        topic: 'rechecks.due',
        key: entry.key,
        value: parts.codec.encode('recheck', entry.message as Recheck),
        headers: { ...entry.headers, [HEADERS.messageId]: entry.id },
      })),
    )
    logger.warn({ looks: entries.length }, 'looks.overdue')
  }

  return createPeriodic({
    clock,
    pauseMs: SWEEP_EVERY_MS,
    run: sweep,
    onFailure: error => logger.warn({ error }, 'looks.sweep_failed'),
  })
}
