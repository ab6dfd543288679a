import { type Operation, type OperationDocument, searchKeysOfOperation } from '@backstop/contracts'
import type { Filter, UpdateFilter } from 'mongodb'
import type { OperationWrite } from '../operation-store.ts'
import { nextTimerAt } from '../rules/approval.ts'

type OperationFields = Omit<OperationDocument, 'outbox' | 'outbox_at' | 'timer_at'>

function toDocument(operation: Operation): OperationFields {
  const { operation_id, ...fields } = operation
  return { _id: operation_id, ...fields, search: searchKeysOfOperation(operation) }
}

/** The operation of a document that was read without its internal fields. */
export function toOperation(document: OperationFields): Operation {
  const { _id, search: _keys, ...fields } = document
  return { operation_id: _id, ...fields }
}

/** The document of the first version. */
export function toNewDocument({ operation, entries, now }: OperationWrite): OperationDocument {
  const timerAt = nextTimerAt(operation)
  const timer = timerAt === null ? {} : { timer_at: new Date(timerAt) }
  return { ...toDocument(operation), ...timer, outbox: [...entries], outbox_at: new Date(now) }
}

/** Finds the version before, and makes it the next one. */
export function toVersionChange({ operation, entries, now }: OperationWrite) {
  const { _id, ...fields } = toDocument(operation)
  const timerAt = nextTimerAt(operation)
  const filter: Filter<OperationDocument> = { _id, version: operation.version - 1 }
  const update: UpdateFilter<OperationDocument> = {
    $set: timerAt === null ? fields : { ...fields, timer_at: new Date(timerAt) },
    ...(timerAt === null ? { $unset: { timer_at: 1 } } : {}),
    $push: { outbox: { $each: [...entries] } },
    // $min, because a publisher may have emptied the outbox and removed outbox_at since the read.
    $min: { outbox_at: new Date(now) },
  }
  return { filter, update }
}
