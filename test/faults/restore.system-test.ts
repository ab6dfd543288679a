/**
 * An installation is lost with its Kafka and its database. Its backup is restored into an empty database, and the services start with
 * empty topics. Prints what was lost and recovered, for docs/verified.md.
 */
import { Secret } from '@backstop/kit/config'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { until } from '@backstop/kit/test'
import type { ActionRecord } from '@backstop/verdict'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommandLine } from '../../packages/cli/src/command-line.ts'
import { createManagementApi } from '../../scripts/start/management-api.ts'
import { type Product, startProduct } from '../../scripts/start/product.ts'
import { databaseName } from '../../scripts/start/service-environment.ts'
import { loadOrCreateSecrets } from '../../scripts/start/stored-secrets.ts'
import { createMongoCases } from '../../services/reconciler/src/cases/mongo-cases.ts'
import { type Connected, connectProcessor } from '../setup/accounts.ts'
import { type Customer, openCustomer } from '../setup/customer.ts'
import { dumpDatabase, restoreDatabase } from '../setup/database-copy.ts'
import { dataFolder, stackUrls } from '../setup/product.ts'

const RECHECK_DELAY_MS = 8_000
const WITHIN_MS = 120_000
/** The reconciler asks for a look again five minutes after it was due, because its message may only be late. The backup is nearly that old, because the test ages its looks. */
const BACKUP_AGE_MS = 4 * 60_000
const OVERDUE_WITHIN_MS = 120_000

const folder = dataFolder('restore')
const unique = `${process.pid}-${Date.now().toString(36)}`
const prefixes = { lost: `restore-lost-${unique}.`, restored: `restore-new-${unique}.` }
const stops: (() => Promise<unknown>)[] = []
let product: Product
let customer: Customer
let cards: Connected<'processor'>
let mongo: Mongo

/** Both installations have the same secrets and the same ports, because they have one folder. */
const start = (topicPrefix: string) =>
  startProduct({
    dataDir: folder,
    env: process.env,
    stackUrls: stackUrls(),
    topicPrefix,
    recheckDelayMs: RECHECK_DELAY_MS,
    serviceEnv: { reconciler: { SWEEP_EVERY_MS: '3000' } },
  })

beforeAll(async () => {
  mongo = connectMongo({ url: new Secret(stackUrls().mongo), dbName: 'admin', appName: 'restore-test' })
  product = await start(prefixes.lost)
  customer = await openCustomer(product)
  cards = await connectProcessor(customer, { isReadable: true })
})
afterAll(async () => {
  for (const stop of stops) await stop()
  await cards?.stop()
  await customer?.stop()
  await product?.stop()
  for (const prefix of Object.values(prefixes)) await mongo?.client.db(databaseName(prefix)).dropDatabase()
  await mongo?.stop()
})

const startedAtMs = Date.now()
function say(text: string): void {
  process.stdout.write(`[${((Date.now() - startedAtMs) / 1000).toFixed(1).padStart(6)} s] ${text}\n`)
}

function refund(amount: number) {
  const payment = cards.account.createPayment({ amount: 10_000, currency: 'eur' })
  const made = cards.account.refund({ payment_intent: payment.paymentIntent.id, amount })
  return { id: made.id, amount, subject: payment.paymentIntent.id }
}

/** Reports the operation that makes the refund, as the software of the customer does. */
const report = ({ id, amount, subject }: ReturnType<typeof refund>) =>
  cards.report({
    ...{ subject, amount, currency: 'eur', state: 'completed', provider_ref: id },
    idempotency_key: `operation of ${id}`,
  })

const isExplained = async ({ id }: { readonly id: string }) => (await customer.action(id))?.verdict === 'explained'

async function verifyBackup(dbName: string) {
  const out: string[] = []
  const exit = await runCommandLine(['backup', 'verify'], {
    environment: {
      MONGO_URL: stackUrls().mongo,
      MONGO_DB: dbName,
      SECRET_KEYS: loadOrCreateSecrets(`${folder}/secrets.json`).secretKeys,
    },
    readInput: async () => '',
    folder: '/',
    out: text => out.push(text),
    err: text => out.push(text),
    isTerminal: false,
    operator: 'ada@laptop',
    now: Date.now,
  })
  return { exit, text: out.join('') }
}

/** The looks that are pending in the backup were due some minutes ago. */
async function agePendingLooks(dbName: string): Promise<void> {
  const db = connectMongo({ url: new Secret(stackUrls().mongo), dbName, appName: 'restore-test' })
  const cases = createMongoCases(db, () => 'restore-test')
  const aged = (action: ActionRecord) =>
    action.verdict !== 'pending' || action.look === null
      ? action
      : { ...action, look: { ...action.look, dueAt: action.look.dueAt - BACKUP_AGE_MS } }
  const pending = await cases.withOverdueLook(Number.POSITIVE_INFINITY, 100)
  const changes = pending.map(before => ({
    before,
    next: { ...before, version: before.version + 1, actions: before.actions.map(aged) },
    added: [],
    replacedCases: [],
  }))
  expect((await cases.save(changes)).size).toBe(0)
  await db.stop()
}

test('a restored installation judges what it knew, and the sweep finds what it did not', async () => {
  const alerted = refund(100)
  await customer.alertAbout(alerted.id, WITHIN_MS)
  const explained = refund(200)
  await report(explained)
  await until('the explained refund', () => isExplained(explained), { timeoutMs: WITHIN_MS })
  const pending = refund(300)
  await until('the pending refund', async () => (await customer.action(pending.id))?.verdict === 'pending', {
    timeoutMs: WITHIN_MS,
  })
  const dump = await dumpDatabase(mongo.client, databaseName(prefixes.lost))
  const documents = dump.collections.reduce((sum, one) => sum + one.documents.length, 0)
  say(`backup of ${dump.collections.length} collections with ${documents} documents`)

  const afterBackup = refund(400)
  await customer.alertAbout(afterBackup.id, WITHIN_MS)
  const explainedLater = refund(500)
  await report(explainedLater)
  await until('the refund explained after the backup', () => isExplained(explainedLater), { timeoutMs: WITHIN_MS })
  await customer.alertAbout(pending.id, WITHIN_MS)
  say('after the backup: one refund alerted, one was explained, the pending one alerted')
  await product.stop()
  say('the installation is lost')
  const duringOutage = cards.withLostEvents(() => refund(600))

  const restored = databaseName(prefixes.restored)
  await restoreDatabase(mongo.client.db(restored), dump)
  await agePendingLooks(restored)
  const { exit, text } = await verifyBackup(restored)
  say(`restored; backstop backup verify ends with ${exit}:\n${text.replaceAll(/^/gm, '    ').trimEnd()}`)
  expect(exit, text).toBe(0)

  product = await start(prefixes.restored)
  say('the services are up, with empty topics')
  const api = createManagementApi(product.urls.admin, product.key)
  const again = { ...customer, api }
  const actionOf = async (id: string) =>
    (
      await api.get<{ data: { provider_ref: string; verdict: string }[] }>(
        `/v1/actions?project_id=${again.projectId}&limit=200`,
      )
    ).data.find(action => action.provider_ref === id)
  const untilVerdict = (what: string, id: string, verdict: string, timeoutMs = WITHIN_MS) =>
    until(what, async () => (await actionOf(id))?.verdict === verdict, { timeoutMs, everyMs: 500 })

  expect(await actionOf(explained.id)).toMatchObject({ verdict: 'explained' })
  expect(await actionOf(alerted.id)).toMatchObject({ verdict: 'unexplained' })
  await untilVerdict('the refund of the outage', duringOutage.id, 'unexplained')
  await customer.alertAbout(duringOutage.id, WITHIN_MS)
  say('the sweep found the refund of the outage, whose event was lost, and it alerted')
  await untilVerdict('the refund that alerted after the backup', afterBackup.id, 'unexplained')
  await until('its repeated alert', () => customer.alertsAbout(afterBackup.id).length >= 2, { timeoutMs: WITHIN_MS })
  say('the sweep found the refund that alerted after the backup, and it alerted again')
  await untilVerdict('the refund whose operation is not in the backup', explainedLater.id, 'unexplained')
  say('the refund whose operation is not in the backup alerted')
  await api.post('/v1/operations', {
    ...{ connection_id: cards.connection.connection_id, kind: 'refund', subject: explainedLater.subject },
    ...{ amount: 500, currency: 'eur', state: 'completed', provider_ref: explainedLater.id },
    idempotency_key: `operation of ${explainedLater.id}`,
  })
  await untilVerdict('the refund whose operation is reported again', explainedLater.id, 'explained')
  say('it is explained after its operation was reported again')

  await untilVerdict('the second look that was pending in the backup', pending.id, 'unexplained', OVERDUE_WITHIN_MS)
  say('the second look that was pending in the backup is done')

  expect(customer.alertsAbout(alerted.id)).toHaveLength(1)
  expect(customer.alertsAbout(explained.id)).toEqual([])
  const ids = (id: string) => new Set(customer.alertsAbout(id).map(({ webhookId }) => webhookId))
  say(`distinct webhook-ids of the repeated alerts: ${ids(pending.id).size} and ${ids(afterBackup.id).size}`)
})
