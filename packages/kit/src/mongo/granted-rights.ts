import type { MongoRight } from '@backstop/contracts'
import { type Db, type Document, MongoServerError } from 'mongodb'
import { isUnauthorized, missingRightSentence } from './missing-right.ts'
import { asUnavailable } from './mongo.ts'

/** One privilege of a user, as the server reports it. An empty name stands for every database or collection. */
export interface Privilege {
  readonly resource: { readonly db?: string; readonly collection?: string; readonly anyResource?: boolean }
  readonly actions: readonly string[]
}

/**
 * The actions that a user lacks, with each of their collections.
 * @param collections all collections of the product: a right on all of them is as good as one on the database, except for changes, which
 * the server lets nobody follow without a right on the whole database
 */
export function findMissingRights(
  privileges: readonly Privilege[],
  wanted: readonly MongoRight[],
  { db, collections }: { readonly db: string; readonly collections: readonly string[] },
): MongoRight[] {
  const isGranted = (action: string, collection: string): boolean =>
    privileges.some(({ resource, actions }) => {
      const covers =
        resource.anyResource ||
        ((resource.db === '' || resource.db === db) &&
          (resource.collection === '' || resource.collection === collection))
      return covers && (actions.includes(action) || actions.includes('anyAction'))
    })
  return wanted.flatMap(({ collection, actions }) => {
    const missing = actions.filter(action => {
      if (isGranted(action, collection)) return false
      return collection !== '' || action === 'changeStream' || !collections.every(name => isGranted(action, name))
    })
    return missing.length === 0 ? [] : [{ collection, actions: missing }]
  })
}

/** Collections in one message. */
const NAMED_AT_MOST = 3

/** One sentence for an operator about missing rights. @param missing at least one */
export function describeMissingRights(user: string, missing: readonly MongoRight[]): string {
  const parts = missing
    .slice(0, NAMED_AT_MOST)
    .map(({ collection, actions }) => `${actions.join(', ')} on ${collection || 'all collections'}`)
  const more = missing.length - NAMED_AT_MOST
  return missingRightSentence(user, `${parts.join('; ')}${more > 0 ? `; and on ${more} more collections` : ''}`)
}

/** The server's code for a command that it does not know. */
const COMMAND_NOT_FOUND = 59

/**
 * The user of the connection and its privileges, without any write; undefined if nobody is logged in or the server does not say it.
 * @throws AppError `unavailable`
 */
export async function readPrivileges(
  db: Db,
): Promise<{ readonly user: string; readonly privileges: readonly Privilege[] } | undefined> {
  const answer = await asUnavailable(() =>
    db.command({ connectionStatus: 1, showPrivileges: true }).catch((error: unknown): Document => {
      if (error instanceof MongoServerError && error.code === COMMAND_NOT_FOUND) return {}
      throw error
    }),
  )
  const [login] = answer.authInfo?.authenticatedUsers ?? []
  const privileges = answer.authInfo?.authenticatedUserPrivileges
  return login === undefined || privileges === undefined ? undefined : { user: login.user, privileges }
}

/** True if the server refuses what a user has no right to. A server without access control accepts logins, too. */
export async function refusesUnauthorized(db: Db): Promise<boolean> {
  return asUnavailable(async () => {
    try {
      const { parsed } = await db.admin().command({ getCmdLineOpts: 1 })
      return parsed.security?.authorization === 'enabled' || parsed.security?.keyFile !== undefined
    } catch (error) {
      if (isUnauthorized(error)) return true
      throw error
    }
  })
}
