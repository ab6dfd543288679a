import { type Command, deterministicId, HEADERS, isoTime } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import { AppError } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import type { MessageCodec } from '@backstop/kit/registry'
import type { Case } from '@backstop/verdict'
import type { WorkItem } from '../batch/work-item.ts'
import type { CaseStore } from '../cases/case-store.ts'
import type { Inbox } from '../inbox/inbox-store.ts'
import type { ConnectionErasure, ErasureStore } from './erasure-store.ts'

/** Short, so that data is gone soon after its time is over or its connection was deleted. */
const ERASE_EVERY_MS = 60_000
/** Events that were received before the deletion are processed by then. Later ones are stored without personal data. */
const DELETED_SINCE_MS = 10 * 60_000
const CASES_PER_PAGE = 100
const BODIES_PER_PAGE = 1_000

export interface PersonalDataEraserParts {
  readonly stores: {
    readonly cases: Pick<CaseStore, 'load' | 'page' | 'withExpiredPersonalData' | 'confirmErasure'>
    readonly inbox: Pick<Inbox, 'eraseBodies'>
  }
  readonly erasures: ErasureStore
  /** Decides the cases of these items again (reconcile-batch.ts). */
  readonly reconcile: (items: readonly WorkItem[]) => Promise<void>
  /** For the command to the notifier, which owns the deliveries. */
  readonly producer: Producer
  readonly codec: Pick<MessageCodec, 'encode'>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Erases personal data of cases, their actions and bodies: after its time, and of deleted connections, for which the
 * notifier also erases it in deliveries. It works page by page. After a crash it repeats the page, which lists the actions
 * again although their case has changed already. A case that fails does not stop the others, and is tried again in the
 * next run.
 */
export function createPersonalDataEraser(parts: PersonalDataEraserParts): Periodic {
  const { clock, logger } = parts
  return createPeriodic({
    clock,
    pauseMs: ERASE_EVERY_MS,
    run: isStopping => eraseDuePersonalData(parts, isStopping),
    onFailure: error => logger.warn({ error }, 'personal_data.not_erased'),
  })
}

/**
 * Erases everything that is due now. A failure of one part does not stop the other one.
 * @throws the failure, or both as an AggregateError, after both parts have ended
 */
export async function eraseDuePersonalData(parts: PersonalDataEraserParts, isStopping = () => false): Promise<void> {
  const failures: unknown[] = []
  for (const erase of [eraseExpired, eraseDeletedConnections]) {
    await erase(parts, isStopping).catch(error => failures.push(error))
  }
  if (failures.length > 1) throw new AggregateError(failures, 'Personal data was not erased')
  if (failures.length === 1) throw failures[0]
}

/** @throws the failure of the first case that failed, after all others are erased */
async function eraseExpired(parts: PersonalDataEraserParts, isStopping: () => boolean): Promise<void> {
  const { cases } = parts.stores
  const tried = new Set<string>()
  const failures: unknown[] = []
  while (!isStopping()) {
    const page = await cases.withExpiredPersonalData(parts.clock.now(), CASES_PER_PAGE)
    // A case that is found again failed, or another process is changing it.
    const due = page.filter(({ id }) => !tried.has(id))
    if (due.length === 0) break
    for (const { id } of due) tried.add(id)
    const { erased, failed } = await eraseCases(due, 'expired', parts)
    failures.push(...failed)
    await cases.confirmErasure(await cases.load(erased.flatMap(({ refs }) => refs.slice(0, 1))))
  }
  if (failures.length > 0) throw failures[0]
}

/** @throws the failure of the first case that failed, after everything else is erased */
async function eraseDeletedConnections(parts: PersonalDataEraserParts, isStopping: () => boolean): Promise<void> {
  const { erasures, clock, logger } = parts
  const failures: unknown[] = []
  const unfinished = new Set<string>()
  const next = () => erasures.next(clock.now() - DELETED_SINCE_MS, unfinished)
  for (let erasure = await next(); erasure !== undefined && !isStopping(); erasure = await next()) {
    const { progress, failed, isPassOver } = await erasePage(erasure, parts)
    failures.push(...failed)
    const { connectionId, projectId, finishedAt, cases, bodies } = progress
    if (isPassOver && finishedAt === null) unfinished.add(connectionId)
    if (finishedAt === null) continue
    logger.info({ connection_id: connectionId, project_id: projectId, cases, bodies }, 'personal_data.erased')
  }
  if (failures.length > 0) throw failures[0]
}

interface PageResult {
  readonly progress: ConnectionErasure
  /** The failures of single cases. */
  readonly failed: readonly unknown[]
  /** True if all cases of the project were visited. */
  readonly isPassOver: boolean
}

/** Erases the next page of a deleted connection, and stores the progress. After the cases it erases the bodies. */
async function erasePage(erasure: ConnectionErasure, parts: PersonalDataEraserParts): Promise<PageResult> {
  const { stores, erasures, clock } = parts
  const page = await stores.cases.page(erasure.projectId, erasure.cursor, CASES_PER_PAGE)
  const last = page.at(-1)
  if (last !== undefined) {
    const shown = page.filter(theCase => isShownThrough(theCase, erasure.connectionId))
    const { erased, failed } = await eraseCases(shown, 'all', parts)
    const retryFrom = failed.length === 0 ? erasure.retryFrom : (erasure.retryFrom ?? erasure.cursor)
    const progress = { ...erasure, cursor: last.id, retryFrom, cases: erasure.cases + erased.length }
    await erasures.save(progress)
    return { progress, failed, isPassOver: false }
  }
  const erasedBodies = await stores.inbox.eraseBodies(erasure.connectionId, BODIES_PER_PAGE)
  const progress = { ...erasure, bodies: erasure.bodies + erasedBodies }
  if (erasedBodies > 0) {
    await erasures.save(progress)
    return { progress, failed: [], isPassOver: false }
  }
  const ended = endPass(progress, clock.now())
  // Before the end is stored, so that a crash repeats the command. By now no case can put personal data into an alert.
  if (ended.finishedAt !== null) await eraseDeliveries(erasure, parts)
  await erasures.save(ended)
  return { progress: ended, failed: [], isPassOver: true }
}

/** Finishes the erasure, unless a case failed. Then the next pass begins before that case. */
function endPass(erasure: ConnectionErasure, now: number): ConnectionErasure {
  const { retryFrom } = erasure
  return retryFrom === null ? { ...erasure, finishedAt: now } : { ...erasure, cursor: retryFrom, retryFrom: null }
}

/**
 * Erases the personal data of these cases together, or one by one if that fails, so that one case does not stop the
 * others.
 * @throws AppError `unavailable`, because every case would fail
 */
async function eraseCases(
  cases: readonly Case[],
  scope: 'expired' | 'all',
  { reconcile }: PersonalDataEraserParts,
): Promise<{ readonly erased: readonly Case[]; readonly failed: readonly unknown[] }> {
  const erase = async (some: readonly Case[]): Promise<unknown[]> => {
    if (some.length === 0) return []
    try {
      await reconcile(some.map(theCase => itemOf(theCase, scope)))
      return []
    } catch (error) {
      if (error instanceof AppError && error.code === 'unavailable') throw error
      return [error]
    }
  }
  const failedTogether = await erase(cases)
  if (failedTogether.length === 0) return { erased: cases, failed: [] }
  if (cases.length === 1) return { erased: [], failed: failedTogether }
  const erased: Case[] = []
  const failed: unknown[] = []
  for (const theCase of cases) {
    const failures = await erase([theCase])
    failed.push(...failures)
    if (failures.length === 0) erased.push(theCase)
  }
  return { erased, failed }
}

async function eraseDeliveries(
  { connectionId, projectId }: ConnectionErasure,
  { producer, codec, clock }: PersonalDataEraserParts,
): Promise<void> {
  const command: Command = {
    command_id: deterministicId('command', 'erase_deliveries', connectionId),
    project_id: projectId,
    requested_at: isoTime(clock.now()),
    kind: 'erase_deliveries',
    connection_id: connectionId,
  }
  const value = codec.encode('command', command)
  const headers = { [HEADERS.messageId]: command.command_id }
  await producer.send([{ topic: 'commands', key: connectionId, value, headers }])
}

function itemOf({ projectId, refs }: Case, scope: 'expired' | 'all'): WorkItem {
  return { kind: 'erase_personal_data', projectId, ref: refs[0] ?? '', scope }
}

function isShownThrough({ actions, merged, refundTotals, subscriptions }: Case, connectionId: string): boolean {
  const records = [...actions, ...merged.map(({ record }) => record)]
  const shown = [...records, ...refundTotals, ...subscriptions.flatMap(row => row.snapshots)]
  return shown.some(({ seenThrough }) => seenThrough.some(({ id }) => id === connectionId))
}
