import { MongoBulkWriteError, MongoError } from 'mongodb'

/** The server's code for a command that the user has no right to run. */
const UNAUTHORIZED = 13

/**
 * What MongoDB did not let the user do, and on which collection; undefined if the error has another reason. It is no outage, although the
 * work waits in the same way: somebody must give the right.
 */
export function describeMissingRight(error: unknown): string | undefined {
  if (error instanceof MongoBulkWriteError && (error.errorResponse as unknown) instanceof Error) {
    return describeMissingRight(error.errorResponse)
  }
  if (!(error instanceof MongoError) || error.code !== UNAUTHORIZED) return undefined
  const [, command, collection] = /command \{ (\w+): "([^"]+)"/.exec(error.message) ?? []
  const [, namespace] = /ns: "([^"]+)"/.exec(error.message) ?? []
  const [, name] = /command \{ (\w+):/.exec(error.message) ?? []
  const target = collection ?? namespace ?? 'the database'
  return `MongoDB does not let the user of MONGO_URL run ${command ?? name ?? 'a command'} on ${target}: give it this right (docs/upgrade.md#rights)`
}
