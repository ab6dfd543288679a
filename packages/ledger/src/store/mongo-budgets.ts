import type { Budget, BudgetDocument, BudgetPeriodDocument } from '@backstop/contracts'
import { asUnavailable, LIST_WITHIN_MS, runListQuery, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { Db, Filter } from 'mongodb'
import type { BudgetFilter, BudgetStore } from '../manage-budgets.ts'
import type { PeriodAccount } from '../rules/budget.ts'
import { given, olderThan } from './list-filter.ts'

/** Budgets in MongoDB: collection `budgets`. write-with-budgets.ts writes their accounts. */
export function createMongoBudgetStore(db: Db): BudgetStore {
  const budgets = db.collection<BudgetDocument>('budgets')
  const accounts = db.collection<BudgetPeriodDocument>('budget_periods')
  const notDeleted = { deleted_at: null }
  return {
    insert: budget =>
      asUnavailable(async () => {
        await writeIgnoringDuplicates(() => budgets.insertMany([toDocument(budget)], { ordered: false }), 1)
      }),
    load: id =>
      asUnavailable(async () => {
        const found = await budgets.findOne({ _id: id, ...notDeleted })
        return found === null ? undefined : toBudget(found)
      }),
    list: filter =>
      runListQuery(async () => {
        const found = budgets
          .find({ ...toFilter(filter), ...notDeleted }, { maxTimeMS: LIST_WITHIN_MS })
          .sort({ created_at: -1, _id: -1 })
        return (await found.limit(filter.limit).toArray()).map(toBudget)
      }),
    replace: budget =>
      asUnavailable(async () => {
        const { _id, ...fields } = toDocument(budget)
        const { matchedCount } = await budgets.updateOne(
          { _id, version: budget.version - 1, ...notDeleted },
          { $set: fields },
        )
        return matchedCount === 1
      }),
    remove: (budget, now) =>
      asUnavailable(async () => {
        const { matchedCount } = await budgets.updateOne(
          { _id: budget.budget_id, version: budget.version, ...notDeleted },
          { $set: { deleted_at: new Date(now) } },
        )
        return matchedCount === 1
      }),
    accounts: ids =>
      asUnavailable(async () => {
        const found = await accounts.find({ _id: { $in: [...ids] } }).toArray()
        return found.map(toAccount)
      }),
  }
}

function toFilter({ projectId, connectionId, after }: BudgetFilter): Filter<BudgetDocument> {
  const $or = after && olderThan('created_at', after.at, after.id)
  return given({ project_id: projectId, connection_id: connectionId, $or })
}

function toDocument(budget: Budget): BudgetDocument {
  const { budget_id, created_at, updated_at, ...fields } = budget
  return {
    _id: budget_id,
    ...fields,
    created_at: new Date(created_at),
    updated_at: new Date(updated_at),
    deleted_at: null,
  }
}

/** A budget from its document. */
export function toBudget(document: BudgetDocument): Budget {
  const { _id, created_at, updated_at, deleted_at: _deletedAt, ...fields } = document
  return { budget_id: _id, ...fields, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() }
}

/** An account from its document. */
export function toAccount(document: BudgetPeriodDocument): PeriodAccount {
  return {
    id: document._id,
    budgetId: document.budget_id,
    projectId: document.project_id,
    firstDay: document.starts_at.toISOString().slice(0, 10),
    startsAt: document.starts_at.getTime(),
    endsAt: document.ends_at.getTime(),
    used: document.used,
    reserved: document.reserved,
    alertedPercents: document.told_percents,
  }
}

/** The document of an account. */
export function toAccountDocument(account: PeriodAccount): BudgetPeriodDocument {
  return {
    _id: account.id,
    budget_id: account.budgetId,
    project_id: account.projectId,
    starts_at: new Date(account.startsAt),
    ends_at: new Date(account.endsAt),
    used: account.used,
    reserved: account.reserved,
    told_percents: [...account.alertedPercents],
  }
}
