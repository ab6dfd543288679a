import type { TestStack } from '@backstop/kit/test'
import { provisionTestStack } from '@backstop/provision/test'
import { type CommandStartedEvent, type Db, MongoClient } from 'mongodb'
import type { AdminPorts } from '../src/app.ts'
import { createInstallationReaders } from '../src/installation/read-state.ts'
import { createMongoSearchIndex } from '../src/store/mongo-search-index.ts'
import type { SearchIndex } from '../src/store/search-index.ts'
import { openTestStores } from './memory-stores.ts'
import { startTestApi, type TestApi, type TestSettings } from './test-api.ts'

export interface MongoTestApi extends TestApi {
  readonly db: Db
  readonly search: SearchIndex
  /** All commands that the API sent to MongoDB. */
  readonly asked: readonly CommandStartedEvent['command'][]
  /** Returns MongoDB's query plan for a command. */
  explain(
    command: object,
    verbosity?: 'queryPlanner' | 'executionStats',
  ): Promise<{ readonly executionStats?: { readonly totalDocsExamined: number; readonly totalKeysExamined: number } }>
  /** Makes MongoDB refuse the audit rows of an action; null makes it accept all rows again. */
  refuseAuditOf(action: string | null): Promise<void>
}

/** Starts the API over a provisioned stack: MongoDB and Kafka as in production. */
export async function startMongoApi(
  settings: TestSettings = {},
  ports: Partial<Pick<AdminPorts, 'egress'>> = {},
): Promise<MongoTestApi> {
  const stack = await provisionTestStack()
  return startMongoApiOver(stack, settings, ports, () => stack.close())
}

/** Starts one of several APIs over a provisioned stack, which `onStop` may close. */
export async function startMongoApiOver(
  stack: TestStack,
  settings: TestSettings = {},
  ports: Partial<Pick<AdminPorts, 'egress'>> = {},
  onStop: () => Promise<void> = async () => {},
): Promise<MongoTestApi> {
  const client = new MongoClient(stack.mongoUrl.reveal(), { monitorCommands: true, appName: 'backstop-test' })
  const asked: CommandStartedEvent['command'][] = []
  client.on('commandStarted', event => void asked.push(event.command))
  const db = client.db(stack.dbName)
  const search = createMongoSearchIndex(db)
  const testApi = await startTestApi({
    bus: stack.bus(),
    stores: openTestStores(db),
    installation: createInstallationReaders(db),
    settings: { outcomeWaitMs: 3_000, ...settings },
    ...ports,
    async onStop() {
      await client.close()
      await onStop()
    },
  })
  return {
    ...testApi,
    db,
    search,
    asked,
    explain: (command, verbosity = 'queryPlanner') => db.command({ explain: command, verbosity }),
    async refuseAuditOf(action) {
      await db.command({ collMod: 'audit', validator: action === null ? {} : { action: { $ne: action } } })
    },
  }
}
