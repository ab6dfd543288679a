import {
  type BulkWriteResult,
  type Document,
  MongoBulkWriteError,
  MongoErrorLabel,
  MongoNetworkError,
  MongoServerError,
} from 'mongodb'

/** Values that a unique index has already, in the form of the server's error. */
export interface Duplicate {
  readonly index: string
  readonly keyPattern: Readonly<Document>
  readonly keyValue: Readonly<Document>
  /** The key of the document that has them. */
  readonly owner: string
}

/** A document that a unique index refused, as the server says it. */
export function duplicateKey(
  collection: string,
  { index, keyPattern, keyValue }: Omit<Duplicate, 'owner'>,
): MongoServerError {
  const message = `E11000 duplicate key error collection: simulation.${collection} index: ${index} dup key: ${JSON.stringify(keyValue)}`
  return new MongoServerError({
    code: 11_000,
    codeName: 'DuplicateKey',
    errmsg: message,
    message,
    keyPattern,
    keyValue,
  })
}

/** A write that the server refuses because of its content. Codes: 2 is BadValue, 14 TypeMismatch, 28 PathNotViable, 40 ConflictingUpdateOperators, 66 ImmutableField, 10334 BSONObjectTooLarge. */
export function refusedWrite(code: 2 | 14 | 28 | 40 | 66 | 10_334, message: string): MongoServerError {
  return new MongoServerError({ code, errmsg: message, message })
}

/** A bulk write of which some writes were refused. */
export function bulkError(
  failures: readonly { index: number; error: MongoServerError }[],
  result: BulkWriteResult,
): MongoBulkWriteError {
  const writeErrors = failures.map(({ index, error }) => ({ index, code: Number(error.code), errmsg: error.message }))
  const { code, message } = failures[0]!.error
  return new MongoBulkWriteError({ message, code, writeErrors } as never, result)
}

/** A connection that broke: the command may have been carried out or not. */
export function brokenConnection(): MongoNetworkError {
  return new MongoNetworkError('connection 1 to 127.0.0.1:27017 closed')
}

/** The driver repeats a transaction whose connection broke before its commit. */
export function transientInTransaction(error: unknown): unknown {
  if (error instanceof MongoNetworkError) error.addErrorLabel(MongoErrorLabel.TransientTransactionError)
  return error
}

/** The primary stepped down while the command ran. */
export function steppedDown(): MongoServerError {
  const error = new MongoServerError({
    code: 11_602,
    codeName: 'InterruptedDueToReplStateChange',
    message: 'operation was interrupted',
  })
  error.addErrorLabel(MongoErrorLabel.RetryableWriteError)
  return error
}

/** A transaction that met another writer, and must run again. */
export function writeConflict(): MongoServerError {
  const error = new MongoServerError({ code: 112, codeName: 'WriteConflict', message: 'Write conflict' })
  error.addErrorLabel(MongoErrorLabel.TransientTransactionError)
  return error
}

/** A change stream whose position the oplog no longer has. */
export function historyLost(): MongoServerError {
  return new MongoServerError({
    code: 286,
    codeName: 'ChangeStreamHistoryLost',
    message: 'Resume of change stream was not possible, as the resume point may no longer be in the oplog.',
  })
}
