import { type AuditDocument, newId } from '@backstop/contracts'
import { type Clock, createPeriodic } from '@backstop/kit/clock'
import { AppError } from '@backstop/kit/errors'
import { addressKey } from '@backstop/kit/http'
import type { Logger } from '@backstop/kit/logger'
import type { AdminStores } from '../store/stores.ts'
import type { RequestFacts } from './request-facts.ts'
import { RefusalTally, type RefusedActor } from './rules/refusal-tally.ts'

/** Writes refused requests to the audit. */
export interface RefusalAudit {
  start(): void
  /** Records the error that ended a request, if it is a refusal; ignores every other error. */
  record(error: unknown, operation: string, facts: RequestFacts): void
  /** Stops the periodic writes and stores the remaining rows. */
  stop(): Promise<void>
}

const ROWS_AT_ONCE = 200
/** How often refusals are stored, in milliseconds. Known gap: a killed process loses the refusals of this time. */
const STORE_EVERY_MS = 5_000

/**
 * Creates the audit of refused requests. Its rows are written periodically and not with each answer, so a flood of refused requests
 * causes no flood of writes. RefusalTally bounds the rows in memory.
 */
export function createRefusalAudit(
  { transaction }: Pick<AdminStores, 'transaction'>,
  { clock, logger }: { clock: Clock; logger: Logger },
): RefusalAudit {
  const tally = new RefusalTally()
  async function store(): Promise<void> {
    const rows = tally.unstored()
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      const batch = rows.slice(at, at + ROWS_AT_ONCE)
      await storeUnchained(transaction, batch)
      tally.markStored(batch)
    }
    tally.evictEnded(clock.now())
  }
  const onFailure = (error: unknown) => logger.warn({ error }, 'audit.refusals_not_stored')
  const periodic = createPeriodic({ clock, pauseMs: STORE_EVERY_MS, run: store, onFailure })
  return {
    start: () => periodic.start(),
    record(error, operation, { identity, requestId, address }) {
      if (!(error instanceof AppError) || !isRefusal(error)) return
      tally.add({
        actor: actorOf(error, identity, address),
        code: error.code,
        operation,
        projectId: identity?.grants.length === 1 ? (identity.grants[0]?.projectId ?? null) : null,
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

/**
 * Stores rows, except for those that are part of the hash chain already, because a row of the chain must not change. That is possible
 * only if storing them failed for minutes. In a transaction, so that no row joins the chain between the check and the write.
 */
function storeUnchained(transaction: AdminStores['transaction'], rows: readonly AuditDocument[]): Promise<void> {
  return transaction(async ({ audit }) => {
    const stored = await audit.findAll({ _id: { in: rows.map(({ _id }) => _id) } })
    const chained = new Set(stored.flatMap(({ _id, sequence }) => (sequence === undefined ? [] : [_id])))
    const unchained = rows.filter(({ _id }) => !chained.has(_id)).map(row => ({ ...row, unchained: true }))
    if (unchained.length > 0) await audit.putAll(unchained)
  })
}

function actorOf({ details }: AppError, identity: RequestFacts['identity'], address: string | undefined): RefusedActor {
  if (identity !== undefined) {
    return { kind: identity.kind, id: identity.id, name: identity.name, isAuthenticated: true }
  }
  const { key_id, person_id, key_hint } = details as { key_id?: string; person_id?: string; key_hint?: string }
  if (key_id !== undefined) return { kind: 'key', id: key_id, name: null, isAuthenticated: false }
  if (person_id !== undefined) return { kind: 'person', id: person_id, name: null, isAuthenticated: false }
  return { kind: 'stranger', network: addressKey(address ?? ''), keyHint: key_hint ?? null }
}

/** True for a 4xx error, except for a request that did not arrive completely. Errors of the server are not refusals. */
function isRefusal({ status, code }: AppError): boolean {
  return status >= 400 && status < 500 && code !== 'request_timeout'
}
