/** The product with a user of its own for each program at MongoDB and Kafka, with the rights of packages/contracts/src/rights.ts and no more. */
import { join } from 'node:path'
import { until } from '@backstop/kit/test'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { databaseName, SERVICES } from '../../scripts/start/service-environment.ts'
import {
  createMongoUsers,
  type GuardedServers,
  kafkaRulesOf,
  PROGRAMS,
  startGuardedServers,
} from '../setup/guarded-servers.ts'
import { dataFolder, openProduct, stackUrls } from '../setup/product.ts'
import { runUntilExit } from '../setup/service-exit.ts'
import { openShop, type Shop } from '../setup/shop.ts'

const prefix = 'rights.'
const database = databaseName(prefix)
let servers: GuardedServers
let product: Product
let shop: Shop

beforeAll(async () => {
  servers = await startGuardedServers(join(dataFolder('rights'), 'servers'))
  await createMongoUsers(servers.admin.db, database)
  await servers.admin.kafka.createAcls({ acl: PROGRAMS.flatMap(program => kafkaRulesOf(program, prefix)) })
})
afterAll(async () => {
  await shop?.stop()
  await product?.stop()
  await servers?.stop()
})

const programEnvironment = (program: (typeof PROGRAMS)[number]) => ({
  ...servers.loginOf(program),
  KAFKA_TOPIC_PREFIX: prefix,
  MONGO_DB: database,
  SCHEMA_REGISTRY_URL: stackUrls().registry,
})

test('the deploy job and the services that wait for it have the rights that they need', async () => {
  const provision = await runUntilExit('packages/provision/src/main.ts', programEnvironment('provision'))
  expect(provision).toMatchObject({ exitCode: 0 })
  const waits = SERVICES.map(service =>
    runUntilExit('packages/provision/src/wait-main.ts', programEnvironment(service)),
  )
  expect(await Promise.all(waits)).toEqual(SERVICES.map(() => expect.objectContaining({ exitCode: 0 })))
})

test('the services have the rights that they need, and nothing is refused', async () => {
  product = await openProduct('rights', {
    stackUrls: { ...stackUrls(), kafka: servers.kafka, mongo: servers.mongo },
    topicPrefix: prefix,
    recheckDelayMs: 500,
    serviceEnv: Object.fromEntries(SERVICES.map(service => [service, servers.loginOf(service)])),
  })
  shop = await openShop(product)
  const payment = shop.pay()
  const subject = payment.paymentIntent.id
  const operation = await shop.report({ subject, amount: 500, currency: 'eur', state: 'executing' })
  const explained = shop.processor.refund({ payment_intent: subject, amount: 500 })
  await shop.api.post(`/v1/operations/${operation.operation_id}/transitions`, {
    to: 'completed',
    provider_ref: explained.id,
  })
  const unexplained = shop.processor.refund({ payment_intent: subject, amount: 77 })
  await shop.alertAbout(unexplained.id, 60_000)
  await until('the explained refund', async () => (await shop.action(explained.id))?.verdict === 'explained')
  expect(servers.refusals()).toEqual([])
})

const readyz = async (service: (typeof SERVICES)[number]) => {
  const answer = await fetch(`${product.children[service].opsUrl}/readyz`).catch(() => undefined)
  return answer === undefined ? undefined : { status: answer.status, text: (await answer.text()).trim() }
}

test('a service whose user may read and not write is not ready, and names user, action and collection or topic', async () => {
  const { reconciler, notifier, ingress } = product.children
  const incidents = { resource: { db: database, collection: 'incidents' }, actions: ['insert', 'update'] }
  const change = (command: string) =>
    servers.admin.db.command({ [command]: 'backstop-reconciler', privileges: [incidents] })
  const rule = (program: 'notifier' | 'ingress', topic: string, operation: number) =>
    kafkaRulesOf(program, prefix).filter(
      ({ resourceName, operation: of }) => resourceName === prefix + topic && of === operation,
    )
  // Write is 4, Read is 3.
  const rules = [...rule('ingress', 'inbound.processor', 4), ...rule('notifier', 'notifier', 3)]
  expect(rules).toHaveLength(2)
  await Promise.all([reconciler.stop(), notifier.stop(), ingress.stop()])
  await change('revokePrivilegesFromRole')
  const toFilters = rules.map(one => ({ ...one, patternType: undefined }))
  await servers.admin.kafka.deleteAcls({ filters: toFilters as never })
  for (const child of [reconciler, notifier, ingress]) child.start()
  const expected = {
    reconciler:
      'MongoDB does not let the user reconciler run insert, update on incidents: give it this right (docs/rights.md)',
    notifier:
      'Kafka does not let the user notifier use the consumer group rights.notifier: give it this right (docs/rights.md)',
    ingress: 'Kafka does not let the user ingress write rights.inbound.processor: give it this right (docs/rights.md)',
  } as const
  for (const [service, text] of Object.entries(expected)) {
    await until(`${service} not to be ready`, async () => (await readyz(service as 'ingress'))?.text === text, {
      timeoutMs: 30_000,
      seen: () => product.children[service as 'ingress'].lastLogLines(),
    })
    expect(await readyz(service as 'ingress')).toEqual({ status: 503, text })
  }
  await change('grantPrivilegesToRole')
  await servers.admin.kafka.createAcls({ acl: rules })
  await Promise.all([reconciler, notifier, ingress].map(child => child.untilReady()))
})

test('the log of the servers shows refusals, so an empty one proves something', async () => {
  const client = new MongoClient(servers.loginOf('ingress').MONGO_URL!)
  await expect(client.db(database).collection('incidents').insertOne({})).rejects.toMatchObject({ code: 13 })
  await client.close()
  const text = () => servers.refusals().join('\n')
  await until('the refusal of MongoDB', () => text().includes('not authorized'))
})

test('a service that may not report itself in the list of processes is ready, and says so in its log', async () => {
  const service = product.children.reconciler
  await service.stop()
  await servers.admin.db.command({
    revokePrivilegesFromRole: 'backstop-reconciler',
    privileges: [{ resource: { db: database, collection: 'processes' }, actions: ['insert', 'update'] }],
  })
  service.start()
  await service.untilReady()
  await until('the log line', () => service.lastLogLines(100).some(line => line.includes('processes.not_written')))
})
