import type { CreatedApiKey, NewApiKey } from '@backstop/client'
import { showableText } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { createSecretBox } from '@backstop/kit/secret-box'
import { mongoTls } from '@backstop/kit/service'
import type { Command } from 'commander'
import {
  addCommand,
  addGroup,
  addList,
  choiceOption,
  given,
  type Printed,
  parseCount,
  parseOverlapHours,
} from '../define-command.ts'
import { readInfrastructure } from '../doctor/settings.ts'
import { CommandFault } from '../exit-code.ts'
import { findDatabase } from '../find-backstop.ts'
import { shownTime } from '../output/table.ts'
import type { Surroundings } from '../surroundings.ts'
import { RECOVERED_KEY_DAYS, recoverAdminKey } from './recover.ts'

const SCOPES = ['admin', 'manage', 'operations:write', 'approvals:write', 'read'] as const

interface Creation {
  readonly scope: NewApiKey['scopes']
  readonly project?: string
  readonly days?: number
}

interface RecoverOptions {
  readonly expiry: boolean
  readonly operator?: string
}

/** `backstop keys …` */
export function addKeys(program: Command, surroundings: Surroundings): void {
  const keys = addGroup(program, 'keys', 'List, create, rotate, revoke and recover API keys')
  addList(keys, surroundings, {
    usage: 'list',
    summary: 'List API keys, also expired and revoked ones.',
    examples: ['backstop keys list'],
    options: [['--project <id>', 'only keys of this project']],
    read: ({ client }, { project }: { project?: string }) => client.apiKeys.list(given({ project_id: project })),
    columns: [
      { title: 'KEY', of: ({ key_id }) => key_id },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'SCOPES', of: ({ scopes }) => scopes.join(',') },
      { title: 'PROJECT', of: ({ project_id }) => project_id ?? 'all' },
      { title: 'LAST USED', of: ({ last_used_at }) => last_used_at && shownTime(last_used_at) },
      { title: 'EXPIRES', of: ({ expires_at }) => (expires_at === null ? 'never' : shownTime(expires_at)) },
      { title: 'NAME', of: ({ name }) => name },
    ],
  })
  addCommand(keys, surroundings, {
    usage: 'create <name>',
    summary: 'Create an API key. Prints it once.',
    examples: ["backstop keys create 'Refund worker' --scope operations:write --project prj_0123"],
    options: [
      choiceOption('--scope <scope...>', 'what the key may do', SCOPES).makeOptionMandatory(),
      ['--project <id>', 'binds the key to this project'],
      ['--days <n>', 'how long it is valid', parseCount],
    ],
    async run({ client }, { scope, project, days }: Creation, name) {
      const optional = given({ project_id: project, expires_in_days: days })
      return printedKey(await client.apiKeys.create({ name, scopes: scope, ...optional }))
    },
  })
  addCommand(keys, surroundings, {
    usage: 'rotate <key_id>',
    summary: 'Replace an API key by a new one with the same id and scopes. Prints it once.',
    examples: ['backstop keys rotate key_0123 --overlap-hours 24'],
    options: [
      ['--overlap-hours <n>', 'how long the previous key is also accepted', parseOverlapHours],
      ['--days <n>', 'how long the new key is valid', parseCount],
    ],
    async run({ client }, { overlapHours, days }: { overlapHours?: number; days?: number }, id) {
      const rotation = given({ overlap_hours: overlapHours, expires_in_days: days })
      return printedKey(await client.apiKeys.rotate(id, rotation))
    },
  })
  addCommand(keys, surroundings, {
    usage: 'revoke <key_id>',
    summary: 'Revoke an API key.',
    examples: ['backstop keys revoke key_0123'],
    async run({ client: { apiKeys } }, _, id) {
      await apiKeys.revoke(id)
      return { item: await apiKeys.get(id), text: `${id} is revoked\n` }
    },
  })
  addCommand(keys, surroundings, {
    usage: 'recover',
    summary: 'Create an admin key for all projects by access to the database, if the last one is lost. Prints it once.',
    examples: ['backstop keys recover'],
    options: [
      ['--operator <name>', 'who you are, for the audit and the alert; by default user and machine'],
      ['--no-expiry', `the key does not expire; by default it is valid for ${RECOVERED_KEY_DAYS} days`],
    ],
    run: recover,
  })
}

/** The key alone goes to standard output, so that a script can store it. */
function printedKey(created: CreatedApiKey): Printed {
  const { key_id, key, expires_at } = created
  const until = expires_at === null ? 'does not expire' : `is valid until ${shownTime(expires_at)}`
  return { item: created, text: `${key ?? ''}\n`, note: `${key_id} ${until}. The key is shown only here:\n` }
}

async function recover(surroundings: Surroundings, options: RecoverOptions): Promise<Printed> {
  const validDays = options.expiry ? RECOVERED_KEY_DAYS : null
  const validity = validDays === null ? 'does not expire' : `is valid for ${validDays} days`
  const operator = operatorOf(options, surroundings)
  const { secretKeys } = readInfrastructure(surroundings)
  const address = findDatabase(surroundings)
  const { url, name: dbName, files } = address
  const mongo = connectMongo({ url, dbName, appName: 'backstop-keys', tls: mongoTls(files) })
  try {
    await refuseOtherDatabase(mongo)
    const { key, keyId } = await recoverAdminKey(mongo, operator, secretKeys && createSecretBox(secretKeys), validDays)
    surroundings.err(
      `Created the admin key ${keyId}, which ${validity} and is shown only here.\n` +
        'Revoke keys that are lost or leaked: backstop keys list, backstop keys revoke <key_id>.\n',
    )
    return { item: { key_id: keyId, key: key.reveal() }, text: `${key.reveal()}\n` }
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'unavailable')) throw error
    const remedy = 'Check that it runs, and that MONGO_URL has its address and a user who may write'
    throw new CommandFault('nothing_there', 'MongoDB is unavailable or refused the write', remedy, error)
  } finally {
    await mongo.stop()
  }
}

/** The stated name, with user and machine: the statement alone could name anybody. */
function operatorOf({ operator }: RecoverOptions, surroundings: Pick<Surroundings, 'operator'>): string {
  const stated = operator?.trim() ?? ''
  return showableText(stated === '' ? surroundings.operator : `${stated} (${surroundings.operator})`).slice(0, 200)
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
