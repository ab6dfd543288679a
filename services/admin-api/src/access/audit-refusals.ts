import { newId } from '@backstop/contracts'
import { AppError, addressKey, type Clock, createPeriodic, type Logger } from '@backstop/kit'
import type { AdminCollections } from '../store/stores.ts'
import type { RequestFacts } from './request-facts.ts'
import { RefusalTally } from './rules/refusal-tally.ts'

/** Writes refused requests to the audit. */
export interface RefusalAudit {
  start(): void
  /** Records the error that ended a request, if it is a refusal; ignores every other error. */
  record(error: unknown, operation: string, facts: RequestFacts): void
  /** Stops the periodic writes and stores the remaining rows. */
  stop(): Promise<void>
}

/** How often refusals are stored, in milliseconds. Known gap: a killed process loses the refusals of this time. */
const STORE_EVERY_MS = 5_000

/**
 * Creates the audit of refused requests. Its rows are written periodically and not with each answer, so a flood of refused requests
 * causes no flood of writes. RefusalTally bounds the rows in memory.
 */
export function createRefusalAudit(
  audit: Pick<AdminCollections['audit'], 'put'>,
  { clock, logger }: { clock: Clock; logger: Logger },
): RefusalAudit {
  const tally = new RefusalTally()
  async function store(): Promise<void> {
    for (const row of tally.unstored()) {
      await audit.put(row)
      tally.markStored(row)
    }
    tally.evictEnded(clock.now())
  }
  const onFailure = (error: unknown) => logger.warn({ error }, 'audit.refusals_not_stored')
  const periodic = createPeriodic({ clock, pauseMs: STORE_EVERY_MS, run: store, onFailure })
  return {
    start: () => periodic.start(),
    record(error, operation, { principal, requestId, address }) {
      if (!(error instanceof AppError) || !isRefusal(error)) return
      const { key_id: refusedKeyId, key_hint: keyHint } = error.details as { key_id?: string; key_hint?: string }
      const keyId = principal?.keyId ?? refusedKeyId
      tally.add({
        actor:
          keyId === undefined
            ? { kind: 'stranger', network: addressKey(address ?? ''), keyHint: keyHint ?? null }
            : { kind: 'key', keyId },
        code: error.code,
        operation,
        projectId: principal?.projectId ?? null,
        requestId,
        address: address ?? null,
        atMs: clock.now(),
        rowId: newId('audit'),
      })
    },
    async stop() {
      await periodic.stop()
      await store().catch(onFailure)
    },
  }
}

/** True for a 4xx error, except for a request that did not arrive completely. Errors of the server are not refusals. */
function isRefusal({ status, code }: AppError): boolean {
  return status >= 400 && status < 500 && code !== 'request_timeout'
}
