import { showableText } from '@backstop/contracts'
import { asUnavailable, connectMongo, type Mongo } from '@backstop/kit/mongo'
import { mongoTls, refusalMessage } from '@backstop/kit/service'
import type { Command } from 'commander'
import { addCommand, addGroup, type Printed } from '../define-command.ts'
import { readInfrastructure } from '../doctor/settings.ts'
import { CommandFault } from '../exit-code.ts'
import type { Surroundings } from '../surroundings.ts'
import { checkDatabase } from './check-database.ts'
import { type Contents, describeDatabase } from './describe-database.ts'
import type { Check } from './rules/check.ts'

interface VerifyOptions {
  readonly secrets: boolean
}

interface Verification {
  readonly state: 'intact' | 'damaged'
  readonly database: string
  readonly contents: Contents
  readonly checks: readonly Check[]
}

/** `backstop backup …` */
export function addBackup(program: Command, surroundings: Surroundings): void {
  const backup = addGroup(program, 'backup', 'Verify a backup that was restored into a database')
  addCommand(backup, surroundings, {
    usage: 'verify',
    summary:
      'Verify that a restored database is complete and of one moment, and that SECRET_KEYS opens its secrets. Changes nothing.',
    examples: [
      'MONGO_URL=mongodb://127.0.0.1:27017 MONGO_DB=restored SECRET_KEYS_FILE=keys.txt backstop backup verify',
    ],
    options: [['--no-secrets', 'do not open the secrets, for a machine that must not have SECRET_KEYS']],
    run: verify,
  })
}

async function verify(surroundings: Surroundings, options: VerifyOptions): Promise<Printed> {
  const { mongo: address, secretKeys, credentials } = readInfrastructure(surroundings)
  if (address === undefined) {
    throw new CommandFault('misused', 'MONGO_URL is not set', 'Set MONGO_URL and MONGO_DB to the restored database')
  }
  if (options.secrets && secretKeys === undefined) {
    const remedy = 'Set it to the keys of the time of the backup, or leave this check out with --no-secrets'
    throw new CommandFault('misused', 'SECRET_KEYS is not set', remedy)
  }
  // Some checks read all actions or operations before they answer.
  const mongo = connectMongo({ ...address, appName: 'backstop-backup', tls: mongoTls(credentials), answerWithinMs: 0 })
  try {
    await refuseOtherDatabase(mongo)
    const checks = await asUnavailable(() => checkDatabase(mongo.db, options.secrets ? secretKeys : undefined))
    const contents = await asUnavailable(() => describeDatabase(mongo.db))
    const failed = checks.filter(({ state }) => state === 'failed')
    const state = failed.length === 0 ? 'intact' : 'damaged'
    const verification = { state, database: mongo.db.databaseName, contents, checks } as const
    const printed = { item: verification, text: textOf(verification) }
    if (failed.length === 0) return printed
    return { ...printed, fault: new CommandFault('failed', `Failed: ${failed.map(({ check }) => check).join(', ')}`) }
  } catch (error) {
    if (error instanceof CommandFault) throw error
    const refused = refusalMessage('mongo', error, credentials)
    const message = refused ?? 'MongoDB is unavailable, or its user may not read'
    throw new CommandFault('nothing_there', message, 'Check MONGO_URL and the rights of its user', error)
  } finally {
    await mongo.stop()
  }
}

async function refuseOtherDatabase({ db, ping }: Mongo): Promise<void> {
  await ping()
  const names = await asUnavailable(() => db.listCollections({ name: 'subjects' }, { nameOnly: true }).hasNext())
  if (names) return
  throw new CommandFault(
    'not_found',
    `The database ${db.databaseName} is not a database of Backstop: it has no collection subjects`,
    'Restore the backup into it, or set MONGO_DB to the database that it was restored into',
  )
}

const SIGNS = { ok: '✓', failed: '✗', not_checked: '-' } as const

function textOf({ state, database, contents, checks }: Verification): string {
  const { newest, documents, pending_looks, unpublished, waiting_deliveries } = contents
  const lines = checks.flatMap(({ check, about, state: result, checked, faults, fault_count, remedy }) => {
    const head = `${SIGNS[result]} ${check}: ${about}${result === 'not_checked' ? ' (not checked)' : ` (${checked})`}`
    const more = fault_count > faults.length ? [`    and ${fault_count - faults.length} more`] : []
    return [head, ...faults.map(fault => `    ${showableText(fault)}`), ...more, ...(remedy ? [`  → ${remedy}`] : [])]
  })
  return [
    `The backup in ${database} is ${state}.`,
    ...lines,
    `Newest event ${newest.event ?? 'none'}, newest action ${newest.action ?? 'none'}, newest change ${newest.audit ?? 'none'}`,
    Object.entries(documents)
      .map(([name, count]) => `${count} ${name}`)
      .join(', '),
    `After a start: ${pending_looks} second looks are done, ${unpublished} documents publish messages`,
    `Without the old Kafka: ${waiting_deliveries} deliveries need a replay (docs/backup.md)`,
    '',
  ].join('\n')
}
