import { type AuditChainDocument, type AuditDocument, HEARTBEAT } from '@backstop/contracts'
import { type AuditKeys, type ChainEnd, mayBeExpired } from '@backstop/kit/audit'
import type { ReadCollections } from '../../store/stores.ts'
import { type HeadJudgement, judgeHead } from './judge-head.ts'

/** The newest row of the chain is among these newest rows of the audit, although rows may join in another order than their times. */
export const NEWEST_ROWS = 500

type Collections = Pick<ReadCollections, 'audit' | 'auditChain' | 'projects'>

/** Reads the head of the chain and judges it. @param seen the newest head that this process has seen */
export async function readHead(
  collections: Collections,
  { seen, keys, now }: { readonly seen: AuditChainDocument | undefined; readonly keys: AuditKeys; readonly now: Date },
): Promise<{
  readonly head: AuditChainDocument | undefined
  readonly beyond: readonly AuditDocument[]
  readonly judgement: HeadJudgement
}> {
  const head = await collections.auditChain.find({ _id: 'head' })
  const beyond = await findBeyond(collections, head)
  const judgement = judgeHead({ head, seen, beyond, ...(await readNewest(collections, head, now)) }, keys)
  return { head, beyond, judgement }
}

/** Finds rows with a place after the end. Without a head, one row is enough to know that there are some. */
export async function findBeyond(
  { audit }: Pick<Collections, 'audit'>,
  end: ChainEnd | undefined,
): Promise<AuditDocument[]> {
  if (end !== undefined) {
    return audit.findAll({ sequence: { min: end.sequence + 1, max: end.sequence + NEWEST_ROWS } })
  }
  const row = await audit.find({ sequence: { min: 1 } })
  return row === undefined ? [] : [row]
}

/** Reads what a head without a MAC is judged by. */
async function readNewest({ audit, projects }: Collections, head: AuditChainDocument | undefined, now: Date) {
  if (head?.mac !== undefined) return { areNewestSigned: true, isEmptied: false }
  const newest = await audit.page({ where: {}, by: 'at', limit: NEWEST_ROWS })
  const areNewestSigned = newest.some(row => row.chained_at !== undefined)
  if (head !== undefined) return { areNewestSigned, isEmptied: false }
  const [oldest] = await audit.page({ where: {}, by: 'at', oldestFirst: true, limit: 1 })
  // The project of the heartbeat is created without a row.
  const made = { where: { _id: { not: HEARTBEAT.projectId } }, by: 'created_at', oldestFirst: true, limit: 1 } as const
  const [project] = await projects.page(made)
  const isEmptied = project !== undefined && isWithoutRow(project.created_at, oldest?.at ?? now, now)
  return { areNewestSigned, isEmptied }
}

const MINUTE_MS = 60_000

/** True if a project is older than the whole audit, although the row of its creation has not expired. */
function isWithoutRow(created: Date, oldestRow: Date, now: Date): boolean {
  return created.getTime() < oldestRow.getTime() - MINUTE_MS && !mayBeExpired(created, now)
}
