import type { ApiKey, CreatedApiKey, NewApiKey } from '@backstop/client'
import { showableText } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { createSecretBox } from '@backstop/kit/secret-box'
import { mongoTls } from '@backstop/kit/service'
import { type Command, Option } from 'commander'
import { addCommand, addGroup, parseCount, parseOverlapHours, withListOptions } from '../add-command.ts'
import { readInfrastructure } from '../doctor/settings.ts'
import { CommandFault } from '../fault.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, type ListOptions, printItem, printList } from '../output/print.ts'
import { shownTime } from '../output/table.ts'
import { findDatabase } from '../running-product.ts'
import type { Surroundings } from '../surroundings.ts'
import { RECOVERED_KEY_DAYS, recoverAdminKey } from './recover.ts'

const SCOPES = ['admin', 'manage', 'operations:write', 'approvals:write', 'read'] as const

interface Creation extends JsonOption {
  readonly scope: NewApiKey['scopes']
  readonly project?: string
  readonly days?: number
}

interface Rotation extends JsonOption {
  readonly overlapHours?: number
  readonly days?: number
}

interface RecoverOptions extends JsonOption {
  readonly expiry: boolean
  readonly operator?: string
}

/** `backstop keys …` */
export function addKeys(program: Command, surroundings: Surroundings): void {
  const keys = addGroup(program, 'keys', 'List, create, rotate, revoke and recover API keys')
  withListOptions(addCommand(keys, 'list', 'List API keys, also expired and revoked ones.', 'backstop keys list'))
    .option('--project <id>', 'only keys of this project')
    .action(({ project, ...options }: ListOptions & { project?: string }) =>
      printList(
        openClient(surroundings).apiKeys.list(project === undefined ? {} : { project_id: project }),
        [
          { title: 'KEY', of: ({ key_id }) => key_id },
          { title: 'STATE', of: ({ state }) => state },
          { title: 'SCOPES', of: ({ scopes }) => scopes.join(',') },
          { title: 'PROJECT', of: ({ project_id }) => project_id ?? 'all' },
          { title: 'LAST USED', of: ({ last_used_at }) => last_used_at && shownTime(last_used_at) },
          { title: 'EXPIRES', of: ({ expires_at }) => (expires_at === null ? 'never' : shownTime(expires_at)) },
          { title: 'NAME', of: ({ name }) => name },
        ],
        options,
        surroundings,
      ),
    )
  addCommand(
    keys,
    'create <name>',
    'Create an API key. Prints it once.',
    "backstop keys create 'Refund worker' --scope operations:write --project prj_0123",
  )
    .addOption(new Option('--scope <scope...>', 'what the key may do').choices(SCOPES).makeOptionMandatory())
    .option('--project <id>', 'binds the key to this project')
    .option('--days <n>', 'how long it is valid', parseCount)
    .action(async (name: string, { scope, project, days, ...options }: Creation) => {
      const key = await openClient(surroundings).apiKeys.create({
        name,
        scopes: scope,
        ...(project === undefined ? {} : { project_id: project }),
        ...(days === undefined ? {} : { expires_in_days: days }),
      })
      printKey(key, options, surroundings)
    })
  addCommand(
    keys,
    'rotate <key_id>',
    'Replace an API key by a new one with the same id and scopes. Prints it once.',
    'backstop keys rotate key_0123 --overlap-hours 24',
  )
    .option('--overlap-hours <n>', 'how long the previous key is also accepted', parseOverlapHours)
    .option('--days <n>', 'how long the new key is valid', parseCount)
    .action(async (id: string, { overlapHours, days, ...options }: Rotation) => {
      const key = await openClient(surroundings).apiKeys.rotate(id, {
        ...(overlapHours === undefined ? {} : { overlap_hours: overlapHours }),
        ...(days === undefined ? {} : { expires_in_days: days }),
      })
      printKey(key, options, surroundings)
    })
  addCommand(keys, 'revoke <key_id>', 'Revoke an API key.', 'backstop keys revoke key_0123').action(
    async (id: string, options: JsonOption) => {
      const { apiKeys } = openClient(surroundings)
      await apiKeys.revoke(id)
      const key: ApiKey = await apiKeys.get(id)
      printItem(key, `${id} is revoked\n`, options, surroundings)
    },
  )
  addCommand(
    keys,
    'recover',
    'Create an admin key for all projects by access to the database, if the last one is lost. Prints it once.',
    'backstop keys recover',
  )
    .option('--operator <name>', 'who you are, for the audit and the alert; by default user and machine')
    .option('--no-expiry', `the key does not expire; by default it is valid for ${RECOVERED_KEY_DAYS} days`)
    .action((options: RecoverOptions) => recover(options, surroundings))
}

/** The key alone goes to standard output, so that a script can store it. */
function printKey(created: CreatedApiKey, options: JsonOption, surroundings: Surroundings): void {
  const { key_id, key, expires_at } = created
  const until = expires_at === null ? 'does not expire' : `is valid until ${shownTime(expires_at)}`
  if (!options.json) surroundings.err(`${key_id} ${until}. The key is shown only here:\n`)
  printItem(created, `${key ?? ''}\n`, options, surroundings)
}

async function recover(options: RecoverOptions, surroundings: Surroundings): Promise<void> {
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
    printItem({ key_id: keyId, key: key.reveal() }, `${key.reveal()}\n`, options, surroundings)
    surroundings.err(
      `Created the admin key ${keyId}, which ${validity} and is shown only here.\n` +
        'Revoke keys that are lost or leaked: backstop keys list, backstop keys revoke <key_id>.\n',
    )
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
