import type { AuditChainDocument } from '@backstop/contracts'
import type { AuditKeys } from '@backstop/kit/audit'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { Metrics } from '@backstop/kit/ops'
import type { AdminStores } from '../../store/stores.ts'
import { type ChainStep, chainRows, ROWS_AT_ONCE } from './chain-rows.ts'
import { markUnchained } from './row-pages.ts'

export interface ChainerOptions {
  readonly stores: AdminStores
  readonly keys: AuditKeys
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Adds new audit rows to the hash chain periodically, and remembers its end. */
export interface AuditChainer extends Periodic {
  /** The newest signed head that this process has seen; undefined if it has seen none. */
  seen(): AuditChainDocument | undefined
}

/** A removed row is not noticed before it joined the chain, so rows join soon. */
const CHAIN_EVERY_MS = 2_000
const SHOW_HEAD_EVERY_MS = 3_600_000
const BREAK_REASONS = ['head_missing', 'head_changed', 'head_set_back', 'key_unknown'] as const

export function createAuditChainer({ stores, keys, clock, logger, metrics }: ChainerOptions): AuditChainer {
  let seen: AuditChainDocument | undefined
  let shownAt = Number.NEGATIVE_INFINITY
  let isComplete = false
  const sequence = metrics.gauge('audit_head_sequence', 'The number of the newest row of the audit chain', [])
  const breaks = metrics.counter('audit_chain_breaks_total', 'Times that the audit chain was found broken', ['reason'])
  for (const reason of BREAK_REASONS) breaks.inc({ reason }, 0)

  function note({ kind, head, broken }: ChainStep): void {
    if (kind === 'key_unknown') {
      breaks.inc({ reason: 'key_unknown' })
      logger.error({ setting: 'SECRET_KEYS' }, 'audit.head_key_unknown')
    }
    if (broken !== undefined) {
      const reason = broken.target
      breaks.inc({ reason })
      logger.error({ reason, seen: textOf(seen), continued: textOf(head) }, 'audit.chain_broken')
    }
    if (head?.mac === undefined) return
    seen = head
    sequence.set(head.sequence)
    const now = clock.now()
    if (now - shownAt < SHOW_HEAD_EVERY_MS) return
    shownAt = now
    logger.info({ head: textOf(head) }, 'audit.head')
  }

  const periodic = createPeriodic({
    clock,
    pauseMs: CHAIN_EVERY_MS,
    async run(isStopping) {
      while (!isStopping()) {
        const step = await chainRows({ stores, keys, seen, isComplete, now: new Date(clock.now()) })
        note(step)
        if (step.kind === 'unsigned' && !isComplete) isComplete = await markUnchained(stores, isStopping)
        else if (step.linked < ROWS_AT_ONCE) return
      }
    },
    onFailure: error => logger.warn({ error }, 'audit.not_chained'),
  })
  return { ...periodic, seen: () => seen }
}

/** The head as `backstop audit verify --head` takes it. */
function textOf(head: Pick<AuditChainDocument, 'sequence' | 'hash'> | undefined): string | null {
  return head === undefined ? null : `${head.sequence}:${head.hash}`
}
