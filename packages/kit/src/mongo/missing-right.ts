import { MongoBulkWriteError, type MongoClient, MongoServerError } from 'mongodb'

/** The server's code for a command that the user has no right to run. */
const UNAUTHORIZED = 13
/** The users of refused commands, by the server's answers, which do not name them. The error of a bulk write has the same answer. */
const refusedUsers = new WeakMap<object, string>()

/** Remembers, for `describeMissingRight`, as which user this client runs commands. Open the client with `monitorCommands`. */
export function nameRefusedUser(client: MongoClient): void {
  client.on('commandFailed', ({ failure }) => {
    const user = client.options.credentials?.username
    if (user && isUnauthorized(failure)) refusedUsers.set(failure.errorResponse, user)
  })
}

/** True if the server refused a command because the user has no right to it. */
export function isUnauthorized(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === UNAUTHORIZED
}

/**
 * What MongoDB did not let the user do, and on which collection; undefined if the error has another reason. It is no outage, although the
 * work waits in the same way: somebody must give the right.
 */
export function describeMissingRight(error: unknown): string | undefined {
  if (error instanceof MongoBulkWriteError && (error.errorResponse as unknown) instanceof Error) {
    return describeMissingRight(error.errorResponse)
  }
  if (!isUnauthorized(error)) return undefined
  const [, command, collection] = /command \{ (\w+): "([^"]+)"/.exec(error.message) ?? []
  const [, namespace] = /ns: "([^"]+)"/.exec(error.message) ?? []
  const [, name] = /command \{ (\w+):/.exec(error.message) ?? []
  const target = collection ?? namespace ?? 'the database'
  return missingRightSentence(
    refusedUsers.get(error.errorResponse) ?? 'of MONGO_URL',
    `${command ?? name ?? 'a command'} on ${target}`,
  )
}

/** One sentence for an operator. @param commands such as `update on incidents` */
export function missingRightSentence(user: string, commands: string): string {
  return `MongoDB does not let the user ${user} run ${commands}: give it this right (docs/rights.md)`
}
