import { type AuditChainDocument, type AuditDocument, deterministicId } from '@backstop/contracts'
import {
  type AuditKeys,
  CHAIN_BROKEN,
  type ChainEnd,
  endAfter,
  isSignedByWriter,
  linkRow,
  linkRowByHash,
  signHead,
  signRow,
} from '@backstop/kit/audit'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { Metrics } from '@backstop/kit/ops'
import type { AdminCollections, AdminStores } from '../../store/stores.ts'
import {
  endOfBrokenChain,
  findBeyond,
  type HeadJudgement,
  NEWEST_ROWS,
  readHead,
  skipTakenPlaces,
} from './read-head.ts'
import { markUnchained } from './walk-chain.ts'

/** Few, because linking them blocks the event loop, for about 6 ms. */
export const ROWS_AT_ONCE = 100
/**
 * Rows that are larger never join, and are reported as outside of the chain. MongoDB could not store a row of almost 16 MiB with its place in
 * the chain, and the chain would stop. Requests and their answers are far smaller.
 */
const MAX_ROW_BYTES = 4 * 1_048_576
/** A row of refusals still changes during its minute. After this time it is stored for the last time. */
const REFUSALS_SETTLED_AFTER_MS = 90_000

/** One step of the chain. */
export interface ChainStep {
  readonly kind: HeadJudgement['kind']
  /** Rows that joined. If there are as many as fit in one step, more may wait. */
  readonly linked: number
  /** The signed head after the step; undefined before the first one. */
  readonly head?: AuditChainDocument | undefined
  /** The row that says how the chain was broken, if it was. */
  readonly broken?: AuditDocument | undefined
}

export interface ChainParts {
  readonly stores: Pick<AdminStores, 'transaction'>
  readonly keys: AuditKeys
  /** The newest head that this process has seen. */
  readonly seen: AuditChainDocument | undefined
  readonly now: Date
  /** False until the rows of releases without a chain are marked (mark-unchained.ts). Until then an unsigned chain does not grow. */
  readonly isComplete: boolean
}

type Collections = Pick<AdminCollections, 'audit' | 'auditChain' | 'projects'>

/**
 * Adds rows to the chain, outside of requests: a chain has one writer at a time, so requests would wait for each other. The end of the
 * chain is changed in the same transaction, so of two replicas one starts again.
 */
export function chainRows({ stores, ...parts }: ChainParts): Promise<ChainStep> {
  return stores.transaction(collections => chainInTransaction(collections, parts))
}

async function chainInTransaction(collections: Collections, parts: Omit<ChainParts, 'stores'>): Promise<ChainStep> {
  const { seen, keys, now, isComplete } = parts
  const { head, beyond, judgement } = await readHead(collections, parts)
  if (judgement.kind === 'key_unknown') return { kind: 'key_unknown', linked: 0 }
  if (judgement.kind === 'unsigned' && !isComplete) return { kind: 'unsigned', linked: 0 }
  const rows = await readUnchained(collections, now)
  switch (judgement.kind) {
    case 'valid': {
      if (rows.length === 0) return { kind: 'valid', linked: 0, head }
      const { signed_from = { sequence: 1, at: now } } = judgement.head
      const end = skipTakenPlaces(judgement.head, beyond)
      return { kind: 'valid', ...(await link(collections, rows, end, signed_from, parts)) }
    }
    case 'unsigned': {
      const hasOldRows = head !== undefined || rows.some(row => !isSignedByWriter(row, keys))
      if (hasOldRows) return linkUnsigned(collections, rows, skipTakenPlaces(judgement.end, beyond), parts)
      return { kind: 'valid', ...(await link(collections, rows, judgement.end, { sequence: 1, at: now }, parts)) }
    }
    case 'broken': {
      const newest = await collections.audit.page({ where: {}, by: 'at', limit: NEWEST_ROWS })
      const known = endOfBrokenChain({ head, seen, newest }, keys)
      const end = skipTakenPlaces(known, await findBeyond(collections, known))
      const broken = signRow(rowAboutBreak(judgement.reason, head, known, now), keys)
      const first = { sequence: end.sequence + 1, at: now }
      const signedFrom = seen?.signed_from ?? (await findSignedFrom(collections)) ?? first
      return { kind: 'broken', broken, ...(await link(collections, [broken, ...rows], end, signedFrom, parts)) }
    }
    default:
      return judgement satisfies never
  }
}

/** Rows of refusals join later than others, and must not make others wait. */
async function readUnchained(
  { audit }: Pick<Collections, 'audit'>,
  now: Date,
  limit = ROWS_AT_ONCE,
): Promise<AuditDocument[]> {
  const page = { by: 'at', oldestFirst: true, limit, maxBytes: MAX_ROW_BYTES } as const
  const rows = await audit.page({ ...page, where: { unchained: true, count: null } })
  if (rows.length === limit) return rows
  const window = { before: new Date(now.getTime() - REFUSALS_SETTLED_AFTER_MS) }
  const refusals = await audit.page({ ...page, where: { unchained: true, count: { min: 1 } }, window })
  return [...rows, ...refusals].slice(0, limit)
}

/** True if a row may join now. A row of refusals that still changes does not count: each check would cost a transaction. */
async function mayGrow(collections: Pick<Collections, 'audit'>, now: Date): Promise<boolean> {
  const { audit } = collections
  const [waiting] = await audit.page({ where: { unchained: true }, by: 'at', oldestFirst: true, limit: 1 })
  return waiting !== undefined && (await readUnchained(collections, now, 1)).length > 0
}

async function link(
  { audit, auditChain }: Collections,
  rows: readonly AuditDocument[],
  before: ChainEnd,
  signedFrom: NonNullable<AuditChainDocument['signed_from']>,
  { keys, now }: Pick<ChainParts, 'keys' | 'now'>,
): Promise<Pick<ChainStep, 'linked' | 'head'>> {
  let end = before
  const linked = rows.map(row => {
    const one = linkRow(row, end, keys, now)
    end = endAfter(one)
    return one
  })
  await audit.putAll(linked)
  const head = signHead(end, signedFrom, keys)
  await auditChain.put(head)
  return { linked: rows.length, head }
}

/**
 * Links rows as the release before did, which may still run, until none is left. Then the head is signed, and later rows get a MAC. So a
 * process of the release before finds no row to link after the head is signed.
 */
async function linkUnsigned(
  { audit, auditChain }: Collections,
  rows: readonly AuditDocument[],
  before: ChainEnd,
  { keys, now }: Pick<ChainParts, 'keys' | 'now'>,
): Promise<ChainStep> {
  const isLast = rows.length < ROWS_AT_ONCE
  let end = before
  const linked = rows.map(row => {
    const one = linkRowByHash(row, end)
    end = endAfter(one)
    return one
  })
  await audit.putAll(linked)
  const newest = end.at === undefined && end.sequence > 0 ? await audit.find({ sequence: end.sequence }) : undefined
  const head = signHead(newest === undefined ? end : endAfter(newest), { sequence: end.sequence + 1, at: now }, keys)
  await auditChain.put(isLast ? head : { _id: 'head', sequence: end.sequence, hash: end.hash })
  return { kind: 'unsigned', linked: rows.length, head: isLast ? head : undefined }
}

async function findSignedFrom({ audit }: Collections): Promise<AuditChainDocument['signed_from']> {
  const signed = { chained_at: { min: new Date(0) } }
  const [oldest] = await audit.page({ where: signed, by: 'at', oldestFirst: true, limit: 1 })
  const { sequence, chained_at } = oldest ?? {}
  return sequence === undefined || chained_at === undefined ? undefined : { sequence, at: chained_at }
}

function rowAboutBreak(reason: string, head: AuditChainDocument | undefined, end: ChainEnd, now: Date): AuditDocument {
  const show = (one: Pick<ChainEnd, 'sequence' | 'hash'> | undefined) =>
    one === undefined ? null : { sequence: one.sequence, hash: one.hash }
  return {
    // Derived, so that a transaction that runs again writes the same row.
    _id: deterministicId('audit', CHAIN_BROKEN, String(end.sequence), now.toISOString()),
    at: now,
    key_id: null,
    actor: null,
    action: CHAIN_BROKEN,
    target: reason,
    project_id: null,
    request_id: null,
    address: null,
    changes: [{ resource: 'audit_chain', field: 'head', from: show(end), to: show(head) }],
    unchained: true,
  }
}

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
/** The pause after rows joined. Short, so that few rows wait for the next step. */
const CHAIN_NEXT_MS = 200
/** While more rows wait than fit in one step, a pause is this many times as long as the step before it: requests come first. */
const PAUSE_FACTOR = 3
/** Rows that wait longer join without a pause, because after ten minutes they would count as outside of the chain (walk-chain.ts). */
const LATE_AFTER_MS = 60_000
/** How often the head is compared with the one that this process has seen, also if no row waits. */
const CHECK_HEAD_EVERY_MS = 10_000
const SHOW_HEAD_EVERY_MS = 3_600_000
const BREAK_REASONS = ['head_missing', 'head_changed', 'head_set_back', 'key_unknown'] as const

export function createAuditChainer({ stores, keys, clock, logger, metrics }: ChainerOptions): AuditChainer {
  let seen: AuditChainDocument | undefined
  let shownAt = Number.NEGATIVE_INFINITY
  let checkedAt = Number.NEGATIVE_INFINITY
  let isComplete = false
  let pauseMs = CHAIN_EVERY_MS
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
    pauseMs: () => pauseMs,
    async run(isStopping) {
      pauseMs = CHAIN_EVERY_MS
      // A transaction costs several commands, and most of the time no row waits.
      const now = clock.now()
      if (now - checkedAt < CHECK_HEAD_EVERY_MS && !(await mayGrow(stores, new Date(now)))) return
      checkedAt = now
      const step = await chainRows({ stores, keys, seen, isComplete, now: new Date(clock.now()) })
      note(step)
      if (step.linked > 0) pauseMs = CHAIN_NEXT_MS
      if (step.kind === 'unsigned' && !isComplete) isComplete = await markUnchained(stores, isStopping)
      else if (step.linked < ROWS_AT_ONCE) return
      const isLate = (step.head?.at?.getTime() ?? 0) < now - LATE_AFTER_MS
      pauseMs = isLate ? 0 : PAUSE_FACTOR * (clock.now() - now)
      checkedAt = Number.NEGATIVE_INFINITY
    },
    onFailure: error => logger.warn({ error }, 'audit.not_chained'),
  })
  return { ...periodic, seen: () => seen }
}

/** The head as `backstop audit verify --head` takes it. */
function textOf(head: Pick<AuditChainDocument, 'sequence' | 'hash'> | undefined): string | null {
  return head === undefined ? null : `${head.sequence}:${head.hash}`
}
