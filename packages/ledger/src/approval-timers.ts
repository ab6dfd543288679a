import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import { isRetryable } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import type { Ledger } from './ledger.ts'

export interface ApprovalTimersOptions {
  readonly ledger: Pick<Ledger, 'dueApprovals' | 'fireTimer'>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * How late a reminder or an expiry may be, in milliseconds. It is short compared with the minutes that people take to
 * decide.
 */
const LOOK_EVERY_MS = 2_000
const LIMIT = 100

/**
 * Reminds people of approvals and lets approvals expire. Due times are stored in the operations, so a restart loses none. If
 * several replicas find the same timer due, one of them wins the write, and the alert is in the outbox of that write.
 */
export function createApprovalTimers({ ledger, clock, logger }: ApprovalTimersOptions): Periodic {
  async function run(isStopping: () => boolean): Promise<void> {
    for (let isMore = true; isMore && !isStopping(); ) {
      const due = await ledger.dueApprovals(clock.now(), LIMIT)
      let fired = 0
      for (const operationId of due) {
        if (isStopping()) return
        const outcome = await ledger.fireTimer(operationId, clock.now())
        if (outcome === 'nothing_due') continue
        fired++
        logger.info({ operation_id: operationId, reason: outcome }, 'approval.timer_fired')
      }
      // If no timer of a full page fired, wait, because the same page would be read again at once.
      isMore = due.length === LIMIT && fired > 0
    }
  }

  return createPeriodic({
    clock,
    pauseMs: LOOK_EVERY_MS,
    run,
    onFailure(error) {
      const canRetry = isRetryable(error)
      logger[canRetry ? 'warn' : 'error']({ error }, 'approval.timers_failed')
    },
  })
}
