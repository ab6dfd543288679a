import type { Producer } from '@backstop/kit/bus'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { MessageCodec } from '@backstop/kit/registry'
import type { WorkItem } from '../batch/work-item.ts'
import type { CaseStore } from '../cases/case-store.ts'
import type { Inbox } from '../inbox/inbox-store.ts'
import { eraseCases } from './erase-cases.ts'
import type { Erasure, ErasureStore } from './erasure-store.ts'
import { actionIdsOf, targetOf } from './erasure-target.ts'

/** Short, so that data is gone soon after its time is over or its connection was deleted. */
const ERASE_EVERY_MS = 60_000
/** Events that were received before the deletion are processed by then. Later ones are stored without personal data. */
const DELETED_SINCE_MS = 10 * 60_000
/** Events and alerts that were in flight during the first walk for a person are stored by then. */
const IN_FLIGHT_MS = 10 * 60_000
const CASES_PER_PAGE = 100

export interface PersonalDataEraserParts {
  readonly stores: {
    readonly cases: Pick<CaseStore, 'load' | 'page' | 'withExpiredPersonalData' | 'confirmErasure'>
    readonly inbox: Pick<Inbox, 'eraseBodies' | 'eraseBodiesOf' | 'eraseBodiesOfPerson'>
  }
  readonly erasures: ErasureStore
  /** Decides the cases of these items again (reconcile-batch.ts). */
  readonly reconcile: (items: readonly WorkItem[]) => Promise<void>
  /** For the commands to the notifier, which owns the deliveries. */
  readonly producer: Producer
  readonly codec: Pick<MessageCodec, 'encode'>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Erases personal data of cases, their actions and bodies: after its time, of deleted connections and of customers whom people asked to
 * erase. For these two the notifier also erases it in deliveries. It works page by page. After a crash it repeats the page, which lists the actions
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
  for (const erase of [eraseExpired, eraseRequested]) {
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
async function eraseRequested(parts: PersonalDataEraserParts, isStopping: () => boolean): Promise<void> {
  const { erasures, clock, logger } = parts
  const failures: unknown[] = []
  const unfinished = new Set<string>()
  const next = () => {
    const now = clock.now()
    return erasures.next({ deletedBefore: now - DELETED_SINCE_MS, now }, unfinished)
  }
  for (let erasure = await next(); erasure !== undefined && !isStopping(); erasure = await next()) {
    const { progress, failed, isPassOver } = await erasePage(erasure, parts)
    failures.push(...failed)
    const { id, projectId, finishedAt, cases, actions, bodies } = progress
    if (isPassOver && finishedAt === null) unfinished.add(id)
    if (finishedAt === null) continue
    const of = progress.person === null ? { connection_id: id } : { erasure_id: id, actions }
    logger.info({ ...of, project_id: projectId, cases, bodies }, 'personal_data.erased')
  }
  if (failures.length > 0) throw failures[0]
}

interface PageResult {
  readonly progress: Erasure
  /** The failures of single cases. */
  readonly failed: readonly unknown[]
  /** True if all cases of the project were visited. */
  readonly isPassOver: boolean
}

/** Erases the next page, and stores the progress. After the cases it erases the bodies. */
async function erasePage(erasure: Erasure, parts: PersonalDataEraserParts): Promise<PageResult> {
  const { stores, erasures, clock } = parts
  const target = targetOf(erasure)
  const page = await stores.cases.page(erasure.projectId, erasure.cursor, CASES_PER_PAGE)
  const last = page.at(-1)
  if (last !== undefined) {
    const { erased, failed } = await eraseCases(page.filter(target.isIn), target.scope, parts)
    const removed = await target.eraseCopies(erased, parts)
    const progress = {
      ...erasure,
      cursor: last.id,
      retryFrom: failed.length === 0 ? erasure.retryFrom : (erasure.retryFrom ?? erasure.cursor),
      cases: erasure.cases + erased.length,
      actions: erasure.actions + erased.flatMap(actionIdsOf).length,
      bodies: erasure.bodies + removed,
    }
    await erasures.save(progress)
    return { progress, failed, isPassOver: false }
  }
  const { isOver, ...checked } = await target.eraseBodies(parts)
  const progress = { ...erasure, ...checked }
  if (!isOver) {
    await erasures.save(progress)
    return { progress, failed: [], isPassOver: false }
  }
  const ended = endPass(progress, clock.now())
  // Before the end is stored, so that a crash repeats the command. By now no case can put personal data into an alert.
  if (ended.finishedAt !== null) await target.eraseDeliveries(parts)
  await erasures.save(ended)
  return { progress: ended, failed: [], isPassOver: true }
}

/**
 * Finishes the erasure, unless a case failed: then the next pass begins before that case. The first walk for a person is followed by a second
 * one, which erases what was in flight.
 */
function endPass(erasure: Erasure, now: number): Erasure {
  const { person, retryFrom, secondWalkAt } = erasure
  if (retryFrom !== null) return { ...erasure, cursor: retryFrom, retryFrom: null }
  if (person === null || secondWalkAt !== null) return { ...erasure, finishedAt: now }
  // The second walk visits the same cases again, and counts them.
  return { ...erasure, cursor: '', bodyCursor: '', cases: 0, actions: 0, secondWalkAt: now + IN_FLIGHT_MS }
}
