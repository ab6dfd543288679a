/** The documents of a history are those that the product would have written. */
import {
  Action,
  type ActionDocument,
  type InboxBodyDocument,
  type InboxDocument,
  Incident,
  type IncidentDocument,
  Operation,
  type OperationDocument,
  searchKeysOfAction,
  searchKeysOfOperation,
} from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { projectActions } from '@backstop/verdict'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMongoCases } from '../../services/reconciler/src/cases/mongo-cases.ts'
import { dataFolder, stackUrls } from '../../test/setup/product.ts'
import { openReconcilerAlone, type ReconcilerAlone } from '../../test/setup/reconciler-alone.ts'
import { storedRefunds, storeHistory } from './history.ts'
import { judgePatterns } from './judged-refunds.ts'

const PLAN = { count: 100, connections: 7 }
let reconciler: ReconcilerAlone | undefined

beforeAll(async () => {
  const surroundings = { stack: stackUrls(), folder: dataFolder('history') }
  const patterns = await judgePatterns(surroundings)
  const name = `history-${process.pid}`
  reconciler = await openReconcilerAlone({ ...surroundings, name, recheckDelayMs: 86_400_000, ...PLAN })
  await storeHistory(reconciler.mongo.db, patterns, PLAN)
})
afterAll(() => reconciler?.close())

const all = <T extends { _id: string }>(name: string) => reconciler!.mongo.db.collection<T>(name).find().toArray()

test('every case and action is as the reconciler would list it', async () => {
  const refunds = await storedRefunds(reconciler!.mongo.db, PLAN)
  const refs = refunds.map(({ id, projectId }) => `${projectId}/processor/re_${id}`)
  const cases = await createMongoCases(reconciler!.mongo, () => 'test').load(refs)
  expect(cases).toHaveLength(PLAN.count)
  const listed = new Map((await all<ActionDocument>('actions')).map(action => [action._id, action]))
  expect(listed.size).toBe(PLAN.count)
  for (const { action } of cases.flatMap(theCase => projectActions(theCase))) {
    const { action_id, ...shown } = Action.parse(action)
    const document = listed.get(action_id)
    expect(document).toMatchObject({
      ...shown,
      first_seen: new Date(shown.first_seen_at),
      search: searchKeysOfAction(shown),
    })
  }
  const verdicts = Map.groupBy(listed.values(), ({ verdict }) => verdict)
  expect(Object.fromEntries([...verdicts].map(([verdict, { length }]) => [verdict, length]))).toEqual({
    explained: 99,
    unexplained: 1,
  })
})

test('every operation, incident and inbox entry belongs to an action', async () => {
  const actions = await all<ActionDocument>('actions')
  const operations = await all<OperationDocument>('operations')
  expect(operations.map(({ _id }) => _id).sort()).toEqual(actions.flatMap(action => action.operation_id ?? []).sort())
  for (const { _id, outbox, search, ...fields } of operations) {
    expect(search).toEqual(searchKeysOfOperation(Operation.parse({ operation_id: _id, ...fields })))
  }
  const incidents = await all<IncidentDocument>('incidents')
  expect(incidents.map(({ _id, action_id }) => [_id, action_id]).sort()).toEqual(
    actions.flatMap(({ incident_id, _id }) => (incident_id === null ? [] : [[incident_id, _id]])).sort(),
  )
  for (const { _id, opened, ...fields } of incidents) {
    expect(opened).toEqual(new Date(Incident.parse({ incident_id: _id, ...fields }).opened_at))
  }
  const entries = await all<InboxDocument>('inbox')
  expect(entries.flatMap(({ action_ids }) => action_ids).sort()).toEqual(actions.map(({ _id }) => _id).sort())
  const ids = new Set(entries.map(({ _id }) => _id))
  const bodies = await all<InboxBodyDocument>('inbox_bodies')
  expect(bodies.length).toBeGreaterThan(0)
  for (const { _id, body } of bodies) {
    const { id } = JSON.parse(body) as { id: string }
    expect(_id.endsWith(`/${id}`) && ids.has(_id)).toBe(true)
  }
})

test('an event of the history is a repeat for the reconciler', async () => {
  const world = reconciler!
  const refunds = await storedRefunds(world.mongo.db, PLAN)
  const before = await Promise.all(['subjects', 'actions', 'inbox'].map(name => all(name)))
  await world.start()
  await world.publishEvents(refunds)
  await until('all events', async () => (await world.committed('reconciler')) === PLAN.count, { timeoutMs: 60_000 })
  await world.stop()
  expect(await Promise.all(['subjects', 'actions', 'inbox'].map(name => all(name)))).toEqual(before)
})
