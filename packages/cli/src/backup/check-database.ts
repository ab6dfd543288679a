import { type ChannelDocument, resealConfig } from '@backstop/channels'
import {
  COLLECTIONS,
  type CollectionName,
  type ConnectionDocument,
  type DailyTotalsDocument,
  type SealedSecret,
} from '@backstop/contracts'
import { createSecretBox, type KeyRing, type SecretBox } from '@backstop/kit/secret-box'
import { findMissingCollections } from '@backstop/provision'
import type { Db, Document } from 'mongodb'
import { checkAudit } from './check-audit.ts'
import { type Check, checkOf, notChecked } from './rules/check.ts'
import { compareBudgets, type PeriodAmounts, type ShareSum } from './rules/compare-budgets.ts'

/** Checks a database as a backup restored it. Reads only. @throws AppError `unavailable`, MongoServerError */
export async function checkDatabase(db: Db, secretKeys: KeyRing | undefined): Promise<Check[]> {
  const countedBefore = await findCountedBefore(db)
  return [
    checkOf('structure', Object.keys(COLLECTIONS).length, await findMissingCollections(db)),
    secretKeys === undefined ? notChecked('secrets') : await checkSecrets(db, createSecretBox(secretKeys)),
    await checkAudit(db, secretKeys && createSecretBox(secretKeys)),
    await checkReferences(db, countedBefore),
    await checkBudgets(db),
    await checkTotals(db, countedBefore),
  ]
}

async function checkSecrets(db: Db, box: SecretBox): Promise<Check> {
  const faults: string[] = []
  let checked = 0
  const tryToOpen = (what: string, sealed: SealedSecret, context: Parameters<SecretBox['open']>[1]) => {
    checked += 1
    try {
      box.open(sealed, context)
    } catch (error) {
      faults.push(`${context.field} of ${what} ${context.id}: ${error instanceof Error ? error.message : error}`)
    }
  }
  const connections = db.collection<ConnectionDocument>('connections').find({ deleted_at: null })
  for await (const { _id: id, project_id: projectId, inbound_secrets, read_key } of connections) {
    const place = { collection: 'connections', id, projectId } as const
    for (const { sealed } of inbound_secrets) tryToOpen('connection', sealed, { ...place, field: 'inbound_secret' })
    if (read_key !== null) tryToOpen('connection', read_key.sealed, { ...place, field: 'read_key' })
  }
  const channels = db.collection<ChannelDocument>('channels').find({ deleted_at: null })
  for await (const { _id: id, project_id: projectId, config } of channels) {
    resealConfig(config, (sealed, field) => {
      tryToOpen('channel', sealed, { collection: 'channels', id, projectId, field })
      return { sealed, fingerprint: '' }
    })
  }
  return checkOf('secrets', checked, faults)
}

/**
 * How long the documents of one change may be written one after the other, in milliseconds: an action, its incident and its day. A
 * backup of one moment has the first of them without the last.
 */
const ONE_CHANGE_MS = 60_000

/** Changes up to this time are complete in a backup of one moment. Later ones are not compared. */
async function findCountedBefore(db: Db): Promise<Date> {
  const newest = await Promise.all(
    [
      ['inbox', 'processed_at'],
      ['actions', 'first_seen'],
      ['incidents', 'opened'],
      ['audit', 'at'],
    ].map(async ([collection = '', field = '']) => {
      const newestFirst = { projection: { [field]: 1 }, sort: { [field]: -1 }, limit: 1 } as const
      const [found] = await db.collection<Document>(collection).find({}, newestFirst).toArray()
      return found?.[field] instanceof Date ? found[field].getTime() : 0
    }),
  )
  return new Date(Math.max(...newest) - ONE_CHANGE_MS)
}

/** An expression for the time of the last change of a document, as far as it has one. */
function changedAt(from: CollectionName): Document {
  switch (from) {
    case 'actions':
      return { $max: ['$first_seen', '$look_done', { $toDate: { $last: '$timeline.at' } }] }
    case 'incidents':
      return { $max: ['$opened', { $toDate: '$acknowledged_at' }, { $toDate: '$resolved_at' }] }
    default:
      return { $literal: new Date(0) }
  }
}

/** Fields that name a document of another collection that never expires, and the collection of that document. */
const REFERENCES: readonly { readonly from: CollectionName; readonly field: string; readonly to: CollectionName }[] = [
  { from: 'connections', field: 'project_id', to: 'projects' },
  { from: 'channels', field: 'project_id', to: 'projects' },
  { from: 'incidents', field: 'action_id', to: 'actions' },
  { from: 'actions', field: 'incident_id', to: 'incidents' },
]
const MOST_FAULTS = 1_000

async function checkReferences(db: Db, countedBefore: Date): Promise<Check> {
  const faults: string[] = []
  let checked = 0
  for (const { from, field, to } of REFERENCES) {
    const names = { [field]: { $type: 'string' } }
    checked += await db.collection(from).countDocuments(names)
    const lost = await db
      .collection<{ _id: string }>(from)
      .aggregate<Document>([
        { $match: names },
        {
          $lookup: {
            from: to,
            localField: field,
            foreignField: '_id',
            as: 'named',
            pipeline: [{ $project: { _id: 1 } }],
          },
        },
        { $match: { named: { $size: 0 }, $expr: { $lte: [changedAt(from), countedBefore] } } },
        { $project: { [field]: 1 } },
        { $limit: MOST_FAULTS },
      ])
      .toArray()
    faults.push(...lost.map(one => `${from} ${one._id} names ${one[field]}, which is not in ${to}`))
  }
  return checkOf('references', checked, faults)
}

async function checkBudgets(db: Db): Promise<Check> {
  const periods = await db
    .collection<PeriodAmounts>('budget_periods')
    .find({}, { projection: { used: 1, reserved: 1 } })
    .toArray()
  const parts = { budget_id: '$budgets.budget_id', period_start: '$budgets.period_start', state: '$budgets.state' }
  const sums = await db
    .collection('operations')
    .aggregate<ShareSum>([
      { $match: { 'budgets.0': { $exists: true } } },
      { $unwind: '$budgets' },
      { $group: { _id: parts, amount: { $sum: '$budgets.amount' } } },
    ])
    .toArray()
  const keptFrom = new Date(Date.now() - BUDGET_PERIODS_KEPT_MS).toISOString().slice(0, 10)
  return checkOf('budgets', periods.length, compareBudgets(periods, sums, keptFrom))
}

const DAY_MS = 86_400_000
/** Periods of budgets are removed 400 days after their end (packages/contracts/src/collections.ts). */
const BUDGET_PERIODS_KEPT_MS = 400 * DAY_MS

/** Compares the days that do not wait for their count. */
async function checkTotals(db: Db, countedBefore: Date): Promise<Check> {
  const faults: string[] = []
  let checked = 0
  const days = db.collection<DailyTotalsDocument>('daily_totals').find({ count_at: { $exists: false } })
  for await (const { _id, connection_id, day, totals } of days) {
    checked += 1
    const from = day.toISOString()
    const to = new Date(day.getTime() + DAY_MS).toISOString()
    const ofDay = { connection_id, provider_created_at: { $gte: from, $lt: to } }
    const stored = { ...ofDay, merged_into: { $exists: false } }
    const actions = (await db.collection('actions').countDocuments(stored)) + (await countArchived(db, stored))
    const counted = totals.reduce((sum, { count }) => sum + count, 0)
    if (Math.abs(actions - counted) <= (actions === counted ? 0 : await countUncounted(db, ofDay, countedBefore)))
      continue
    faults.push(`the total of ${_id} is ${counted} actions; ${actions} are stored`)
  }
  return checkOf('totals', checked, faults)
}

/** Archived actions that no late change has listed again. */
async function countArchived(db: Db, ofDay: Document): Promise<number> {
  const listed = { from: 'actions', localField: '_id', foreignField: '_id', as: 'listed' }
  const pipeline = [{ $match: ofDay }, { $lookup: listed }, { $match: { listed: { $size: 0 } } }, { $count: 'count' }]
  const [found] = await db.collection('archived_actions').aggregate<{ readonly count: number }>(pipeline).toArray()
  return found?.count ?? 0
}

/** Actions that may have changed in the backup's last moments, after their day was counted. */
async function countUncounted(db: Db, ofDay: Document, countedBefore: Date): Promise<number> {
  const changed = { $expr: { $gt: [changedAt('actions'), countedBefore] } }
  return db.collection('actions').countDocuments({ ...ofDay, ...changed })
}
