/**
 * MongoDB's replica set elects a new primary while a reconciler writes: once after a step down, once after SIGKILL. The driver
 * repeats no write (`retryWrites: false`). The reconciler repeats an interrupted batch as a whole, so nothing is lost or done
 * twice.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ActionDocument } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { type Case, projectActions } from '@backstop/verdict'
import { afterAll, expect, test } from 'vitest'
import { createMongoCases } from '../../services/reconciler/src/cases/mongo-cases.ts'
import { dataFolder, stackUrls } from '../setup/product.ts'
import { openReconcilerAlone, type ReconcilerAlone } from '../setup/reconciler-alone.ts'
import { makeRefunds, type Refund } from '../setup/refunds.ts'
import { startReplicaSet } from '../setup/replica-set.ts'

/** Enough refunds that some are in flight during both elections. */
const REFUNDS = 5_000
const stops: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

test('loses and repeats no event, action, look or alert when a primary steps down and another one is killed', async () => {
  const folder = dataFolder('election')
  const set = await startReplicaSet(join(folder, 'mongo'))
  stops.push(() => set.stop())
  const stack = { ...stackUrls(), mongo: set.url }
  const name = `election-${process.pid}`
  const reconciler = await openReconcilerAlone({ name, stack, folder, recheckDelayMs: 2_000 })
  stops.push(() => reconciler.close())
  const alerts = await watchAlerts(reconciler)
  stops.push(() => alerts.stop())
  const refunds = makeRefunds('e', REFUNDS)
  await reconciler.report(refunds)
  await reconciler.publishEvents(refunds)
  await reconciler.start()

  const done = () => reconciler.mongo.db.collection('inbox').countDocuments()
  const untilDone = (count: number) =>
    until(`${count} events to be done`, async () => (await done()) >= count, { timeoutMs: 60_000 })
  const log = join(folder, name, 'logs/reconciler.log')
  const interrupted = () => readFileSync(log, 'utf8').split('"batch.deferred"').length - 1
  await untilDone(0.1 * REFUNDS)
  await set.stepDown()
  await untilDone(0.4 * REFUNDS)
  const restartKilled = await set.killPrimary()
  await until('work to be interrupted', () => interrupted() > 0)
  await Promise.all([restartKilled(), untilDone(REFUNDS)])

  const unexplained = refunds.filter(refund => !refund.isExplained)
  await until('every alert', () => alerts.idsByRefund().size >= unexplained.length, {
    timeoutMs: 60_000,
    seen: () => alerts.idsByRefund().size,
  })
  const subjects = reconciler.mongo.db.collection('subjects')
  const isPublished = async () => (await subjects.countDocuments({ 'current.outbox.0': { $exists: true } })) === 0
  await until('every outbox to be empty', isPublished, { timeoutMs: 60_000 })

  await expectNothingLostOrDoubled(reconciler, refunds)
  expect([...alerts.idsByRefund().keys()].sort()).toEqual(unexplained.map(refOf))
  expect([...alerts.idsByRefund().values()].every(ids => ids.size === 1)).toBe(true)
})

async function expectNothingLostOrDoubled(reconciler: ReconcilerAlone, refunds: readonly Refund[]): Promise<void> {
  const { db } = reconciler.mongo
  const unexplained = refunds.filter(refund => !refund.isExplained).map(refOf)
  expect(await reconciler.count('inbound.dead'), 'dead letters').toBe(0)
  expect(await db.collection('inbox').countDocuments()).toBe(refunds.length)
  expect(await db.collection('incidents').countDocuments()).toBe(unexplained.length)

  const cases = await casesOf(reconciler, refunds)
  expect(cases.map(({ actions }) => actions.length)).toEqual(refunds.map(() => 1))
  expect(refsOf(cases.filter(({ actions }) => actions[0]?.look !== null))).toEqual(unexplained)
  expect(refsOf(cases.filter(({ actions }) => actions[0]?.verdict === 'unexplained'))).toEqual(unexplained)

  const listed = new Map(
    (await db.collection<ActionDocument>('actions').find().toArray()).map(action => [action._id, action]),
  )
  expect(listed.size).toBe(refunds.length)
  for (const { action } of cases.flatMap(theCase => projectActions(theCase))) {
    const { action_id, ...shown } = action
    expect(listed.get(action_id), 'listed as its case says, in the same version').toMatchObject(shown)
  }
}

const refOf = ({ id }: Refund) => `re_${id}`

function refsOf(cases: readonly Case[]): (string | null | undefined)[] {
  return cases.map(({ actions }) => actions[0]?.providerRef)
}

/** The case of each refund, in the order of the refunds. Fails if other cases exist. */
async function casesOf({ mongo }: ReconcilerAlone, refunds: readonly Refund[]): Promise<Case[]> {
  const names = refunds.map(refund => `${refund.projectId}/processor/${refOf(refund)}`)
  const found = await createMongoCases(mongo, () => 'test').load(names)
  const byRef = new Map(found.flatMap(theCase => theCase.refs.map(ref => [ref, theCase] as const)))
  expect(found).toHaveLength(refunds.length)
  expect(await mongo.db.collection('subjects').countDocuments()).toBe(refunds.length)
  return names.map(name => byRef.get(name)!)
}

/** Collects the ids of the alerts about each refund. An alert may arrive again with the same id. */
async function watchAlerts({ bus, codec }: ReconcilerAlone) {
  const idsByRefund = new Map<string, Set<string>>()
  const consumer = bus.consumer({
    groupId: 'election.alerts',
    topics: ['alerts'],
    commit: 'accepted',
    async onBatch({ messages }) {
      for (const { value } of messages) {
        const alert = await codec.decode('alert', value)
        if (alert.event !== 'incident.opened') continue
        const ref = alert.data.action?.provider_ref ?? ''
        idsByRefund.set(ref, (idsByRefund.get(ref) ?? new Set()).add(alert.alert_id))
      }
      return { accepted: messages.length }
    },
    onFatal: error => {
      throw error
    },
  })
  await consumer.start()
  return { idsByRefund: () => idsByRefund, stop: () => consumer.stop() }
}
