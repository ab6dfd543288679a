import { type Command, deterministicId, HEADERS, isoTime } from '@backstop/contracts'
import { type Clock, createPeriodic, type Logger, type MessageCodec, type Periodic, type Producer } from '@backstop/kit'
import type { WorkItem } from '../batch/work-item.ts'
import type { Case } from '../case/case.ts'
import type { ReconcilerStores } from '../store/store.ts'
import type { ConnectionErasure, ErasureStore } from './erasure-store.ts'

/** Short, so that data is gone soon after its time is over or its connection was deleted. */
const ERASE_EVERY_MS = 60_000
/** Events that were received before the deletion are processed by then. Later ones are stored without personal data. */
const DELETED_SINCE_MS = 10 * 60_000
const CASES_PER_PAGE = 100
const BODIES_PER_PAGE = 1_000

export interface PersonalDataEraserParts {
  readonly stores: Pick<ReconcilerStores, 'cases' | 'inbox'>
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
 * again although their case has changed already.
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

async function eraseExpired({ stores, reconcile, clock }: PersonalDataEraserParts, isStopping: () => boolean) {
  const { cases } = stores
  let last: string | undefined
  while (!isStopping()) {
    const page = await cases.withExpiredPersonalData(clock.now(), CASES_PER_PAGE)
    const [first] = page
    // The same case again: another process is changing it, so it is erased in the next run.
    if (first === undefined || first.id === last) return
    last = first.id
    await reconcile(page.map(theCase => itemOf(theCase, 'expired')))
    await cases.confirmErasure(await cases.load(page.flatMap(({ refs }) => refs.slice(0, 1))))
  }
}

async function eraseDeletedConnections(parts: PersonalDataEraserParts, isStopping: () => boolean): Promise<void> {
  const { erasures, clock, logger } = parts
  for (let erasure = await next(); erasure !== undefined && !isStopping(); erasure = await next()) {
    const { connectionId, projectId, finishedAt, cases, bodies } = await erasePage(erasure, parts)
    if (finishedAt === null) continue
    logger.info({ connection_id: connectionId, project_id: projectId, cases, bodies }, 'personal_data.erased')
  }
  function next() {
    return erasures.next(clock.now() - DELETED_SINCE_MS)
  }
}

/** Erases the next page of a deleted connection, and stores the progress. */
async function erasePage(erasure: ConnectionErasure, parts: PersonalDataEraserParts): Promise<ConnectionErasure> {
  const { stores, erasures, reconcile, clock } = parts
  const page = await stores.cases.page(erasure.projectId, erasure.cursor, CASES_PER_PAGE)
  const shown = page.filter(theCase => isShownThrough(theCase, erasure.connectionId))
  if (shown.length > 0) await reconcile(shown.map(theCase => itemOf(theCase, 'all')))
  const last = page.at(-1)
  const erasedBodies = last === undefined ? await stores.inbox.eraseBodies(erasure.connectionId, BODIES_PER_PAGE) : 0
  const progress = {
    ...erasure,
    cursor: last?.id ?? erasure.cursor,
    cases: erasure.cases + shown.length,
    bodies: erasure.bodies + erasedBodies,
    finishedAt: last === undefined && erasedBodies === 0 ? clock.now() : null,
  }
  // Before the end is stored, so that a crash repeats the command. By now no case can put personal data into an alert.
  if (progress.finishedAt !== null) await eraseDeliveries(erasure, parts)
  await erasures.save(progress)
  return progress
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
  return { kind: 'erasure', projectId, ref: refs[0] ?? '', scope }
}

function isShownThrough({ actions, refundTotals, subscriptions }: Case, connectionId: string): boolean {
  const shown = [...actions, ...refundTotals, ...subscriptions.flatMap(row => row.snapshots)]
  return shown.some(({ seenThrough }) => seenThrough.some(({ id }) => id === connectionId))
}
