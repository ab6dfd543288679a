import { AppError, connectMongo, type Mongo } from '@backstop/kit'
import { CommandFault } from '../fault.ts'
import { readArguments } from '../read-arguments.ts'
import { findDatabase } from '../running-product.ts'
import type { Surroundings } from '../surroundings.ts'
import { RECOVERED_KEY_DAYS, recoverAdminKey } from './recover.ts'

/** `backstop keys recover` */
export async function keysCommand(args: readonly string[], surroundings: Surroundings): Promise<void> {
  const { positionals, values } = readArguments(args, { 'no-expiry': { type: 'boolean' } })
  if (positionals.length !== 1 || positionals[0] !== 'recover') {
    throw new CommandFault('misused', 'Name a subcommand', 'backstop keys recover  creates an admin key')
  }
  const validDays = values['no-expiry'] ? null : RECOVERED_KEY_DAYS
  const validity = validDays === null ? 'does not expire' : `is valid for ${validDays} days`
  const address = findDatabase(surroundings)
  const mongo = connectMongo({ url: address.url, dbName: address.name, appName: 'backstop-keys' })
  try {
    await refuseOtherDatabase(mongo)
    const { key, keyId } = await recoverAdminKey(mongo, surroundings.operator, validDays)
    surroundings.out(`${key.reveal()}\n`)
    surroundings.err(
      `Created the admin key ${keyId}, which ${validity} and is shown only here.\n` +
        `Revoke keys that are lost or leaked: GET /v1/api-keys lists them, DELETE /v1/api-keys/{id} revokes one.\n`,
    )
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'unavailable')) throw error
    const remedy = 'Check that it runs, and that MONGO_URL has its address and a user who may write'
    throw new CommandFault('nothing_there', 'MongoDB is unavailable or refused the write', remedy, error)
  } finally {
    await mongo.stop()
  }
}

/** Refuses a database without API keys: no management API reads it, so a key in it would be useless. */
async function refuseOtherDatabase({ db, ping }: Mongo): Promise<void> {
  await ping()
  if (await db.listCollections({ name: 'api_keys' }, { nameOnly: true }).hasNext()) return
  throw new CommandFault(
    'not_found',
    `The database ${db.databaseName} is not a database of Backstop: it has no API keys`,
    'Set MONGO_DB to the database of the management API',
  )
}
