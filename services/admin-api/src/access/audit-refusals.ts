import { newId } from '@backstop/contracts'
import { AppError, addressKey, type Clock, createPeriodic, type Logger } from '@backstop/kit'
import type { AdminShelves } from '../store/stores.ts'
import type { RequestFacts } from './request-facts.ts'
import { RefusalTally } from './rules/refusal-tally.ts'

/** Writes refused requests to the audit. */
export interface RefusalAudit {
  start(): void
  /** Notes the error that a request ended with; what is no refusal is passed over. */
  note(error: unknown, operation: string, facts: RequestFacts): void
  /** Stores what is not stored yet. */
  stop(): Promise<void>
}

/** Known gap: a process that is killed loses the refusals of so many milliseconds. */
const STORE_EVERY_MS = 5_000

/**
 * Refused requests in the audit. Their rows are written behind the answers, together and again as they grow: a refusal costs
 * no write of its own, so that a flood of them costs nothing but memory, which is bounded (RefusalTally).
 */
export function createRefusalAudit(
  audit: Pick<AdminShelves['audit'], 'put'>,
  { clock, logger }: { clock: Clock; logger: Logger },
): RefusalAudit {
  const tally = new RefusalTally()
  async function store(): Promise<void> {
    for (const row of tally.unstored()) {
      await audit.put(row)
      tally.markStored(row)
    }
    tally.forgetEnded(clock.now())
  }
  const onFailure = (error: unknown) => logger.warn({ error }, 'audit.refusals_not_stored')
  const periodic = createPeriodic({ clock, pauseMs: STORE_EVERY_MS, run: store, onFailure })
  return {
    start: () => periodic.start(),
    note(error, operation, { principal, requestId, address }) {
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

/** A request that did not arrive whole was refused nothing, and what fails on our side is no refusal. */
function isRefusal({ status, code }: AppError): boolean {
  return status >= 400 && status < 500 && code !== 'request_timeout'
}
