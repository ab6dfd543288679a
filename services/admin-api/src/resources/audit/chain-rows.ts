import { type Clock, createPeriodic, EMPTY_CHAIN, type Logger, linkRow, type Periodic } from '@backstop/kit'
import type { AdminStores } from '../../store/stores.ts'

const CHAIN_EVERY_MS = 10_000
const ROWS_AT_ONCE = 200
/** A row of refusals still changes during its minute. After this time it is stored for the last time. */
const SETTLED_AFTER_MS = 120_000

/** Adds new audit rows to the hash chain: looks for them periodically. */
export function createAuditChainer({
  stores,
  clock,
  logger,
}: {
  readonly stores: Pick<AdminStores, 'transaction'>
  readonly clock: Clock
  readonly logger: Logger
}): Periodic {
  return createPeriodic({
    clock,
    pauseMs: CHAIN_EVERY_MS,
    async run(isStopping) {
      while (!isStopping() && (await chainRows(stores, new Date(clock.now()))) === ROWS_AT_ONCE);
    },
    onFailure: error => logger.warn({ error }, 'audit.not_chained'),
  })
}

/**
 * Adds rows to the chain, outside of requests: a chain has one writer at a time, so requests would wait for each other. The end of the
 * chain is changed in the same transaction, so of two replicas one starts again.
 * @returns the number of rows
 */
export function chainRows({ transaction }: Pick<AdminStores, 'transaction'>, now: Date): Promise<number> {
  return transaction(async ({ audit, auditChain }) => {
    const window = { before: new Date(now.getTime() - SETTLED_AFTER_MS) }
    const rows = await audit.page({ where: { unchained: true }, by: 'at', window, limit: ROWS_AT_ONCE })
    if (rows.length === 0) return 0
    let end = (await auditChain.find({ _id: 'head' })) ?? EMPTY_CHAIN
    for (const row of rows.toReversed()) {
      const link = linkRow(row, end)
      await audit.change({ _id: row._id }, { ...link, unchained: false })
      end = link
    }
    await auditChain.put({ _id: 'head', sequence: end.sequence, hash: end.hash })
    return rows.length
  })
}
