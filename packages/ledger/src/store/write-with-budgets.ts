import type { BudgetPeriodDocument, OperationDocument } from '@backstop/contracts'
import { isDuplicateKey } from '@backstop/kit/mongo'
import type { ClientSession, Collection, Db } from 'mongodb'
import type { OperationWrite, WriteOutcome } from '../operation-store.ts'
import { capAlertEntry } from '../rules/announcements.ts'
import { applyMoves } from '../rules/budget.ts'
import { toAccount, toAccountDocument } from './mongo-budgets.ts'
import { toNewDocument, toVersionChange } from './operation-document.ts'

/** Thrown to abort a transaction that ends in a refusal. The driver does not retry this error. */
class AbortedWrite extends Error {
  readonly outcome: WriteOutcome
  constructor(outcome: WriteOutcome) {
    super(outcome.kind)
    this.outcome = outcome
  }
}

/**
 * Stores the operation and its budget changes in one transaction. If an account is changed concurrently, the
 * transaction fails and runs again with the new amounts, so that two requests are never checked against the same sum.
 */
export async function writeWithBudgets(db: Db, write: OperationWrite): Promise<WriteOutcome> {
  const accounts = db.collection<BudgetPeriodDocument>('budget_periods')
  const attempt = async (session: ClientSession): Promise<WriteOutcome> => {
    const ids = write.moves.map(({ accountId }) => accountId)
    const stored = await accounts.find({ _id: { $in: ids } }, { session }).toArray()
    const known = new Map(stored.map(document => [document._id, toAccount(document)]))
    const booking = applyMoves(write.moves, known)
    if (booking.kind === 'exceeded') throw new AbortedWrite(booking)
    for (const account of booking.accounts) {
      const { _id, ...fields } = toAccountDocument(account)
      if (known.has(_id)) await accounts.updateOne({ _id }, { $set: fields }, { session })
      else await accounts.insertOne({ _id, ...fields }, { session })
    }
    const alerts = booking.reached.map(reached => capAlertEntry(reached, write.operation, write.now))
    const entries = [...write.entries, ...alerts]
    const isMade = await writeInTransaction(db.collection('operations'), { ...write, entries }, session)
    if (!isMade) throw new AbortedWrite({ kind: 'taken' })
    return { kind: 'written', entries }
  }
  return db.client.withSession(async session => {
    for (;;) {
      try {
        return await session.withTransaction(attempt, { readConcern: { level: 'snapshot' } })
      } catch (error) {
        if (error instanceof AbortedWrite) return error.outcome
        // Another process created the account of a new period at the same time, so the transaction runs again.
        if (!isDuplicateKey(error)) throw error
      }
    }
  })
}

async function writeInTransaction(
  operations: Collection<OperationDocument>,
  write: OperationWrite,
  session: ClientSession,
): Promise<boolean> {
  try {
    if (write.operation.version === 1) {
      await operations.insertOne(toNewDocument(write), { session })
      return true
    }
    const { filter, update } = toVersionChange(write)
    return (await operations.updateOne(filter, update, { session })).matchedCount === 1
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}
