import {
  type ActionDocument,
  bucketOf,
  type DailyTotalsDocument,
  type IncidentDocument,
  type ProjectTotalsDocument,
} from '@backstop/contracts'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { type TestStack, testStack } from '@backstop/kit/test'
import { projectAction } from '@backstop/verdict'
import { onlyAction, play, refundSeen } from '@backstop/verdict/test'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createIndexes } from '../../test/create-indexes.ts'
import { countDay } from '../../test/memory-stores/count-day.ts'
import { countedPartOf } from '../archive/rules/counted-part.ts'
import { createMongoProjections } from '../batch/projection-store.ts'
import { createMongoTotals } from './mongo-totals.ts'

const DAY = Date.UTC(2026, 10, 21)
const HOUR = 3_600_000
let stack: TestStack
let mongo: Mongo
beforeAll(async () => {
  stack = await testStack()
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'backstop-test' })
  await createIndexes(mongo.db)
})
beforeEach(async () => {
  await Promise.all(
    ['actions', 'archived_actions', 'incidents', 'daily_totals', 'project_totals'].map(name =>
      mongo.db.collection(name).deleteMany({}),
    ),
  )
})
afterAll(async () => {
  await mongo.stop()
  await stack.close()
})

const iso = (at: number) => new Date(at).toISOString()
const times = fc.integer({ min: DAY - 2 * HOUR, max: DAY + 26 * HOUR })
const randomAction = fc
  .record({
    connection_id: fc.constantFrom('con_a', 'con_b'),
    verdict: fc.constantFrom('pending', 'explained', 'unexplained'),
    reason: fc.constantFrom('nothing_explains_it', 'provider_ref_matches'),
    kind: fc.constantFrom('refund', 'cancellation'),
    currency: fc.constantFrom('eur', 'usd', null),
    state: fc.constantFrom('succeeded', 'failed'),
    mode: fc.constantFrom('live', 'test', null, undefined),
    actor_id: fc.constantFrom('acr_1', 'acr_2', undefined),
    event_ids: fc.constantFrom([], ['evt_1'], ['evt_1', 'evt_2']),
    amount: fc.option(fc.nat(9_000_000_000_000), { nil: null }),
    merged_into: fc.option(fc.constant('act_other'), { nil: undefined, freq: 5 }),
    made: times,
    seen: times,
    judged: fc.option(fc.integer({ min: 0, max: 40 * HOUR })),
    // False for a document of an earlier version.
    storesBucket: fc.boolean(),
  })
  .map(({ made, seen, judged, storesBucket, merged_into, mode, actor_id, ...fields }) => ({
    ...fields,
    ...(storesBucket && judged !== null ? { verdict_bucket: bucketOf(judged - HOUR) } : {}),
    ...(mode === undefined ? {} : { mode }),
    ...(actor_id === undefined ? {} : { actor_id }),
    ...(merged_into === undefined ? {} : { merged_into }),
    provider_created_at: iso(made),
    first_seen_at: iso(seen),
    timeline: [
      { at: iso(seen), what: 'event_received', id: null, text: '' },
      ...(judged === null ? [] : [{ at: iso(seen + judged - HOUR), what: 'second_look', id: null, text: '' }]),
      ...(judged === null ? [] : [{ at: iso(seen + judged), what: 'explained', id: null, text: '' }]),
    ],
  }))
const randomIncident = fc
  .record({
    connection_id: fc.constantFrom('con_a', 'con_b'),
    action_id: fc.constantFrom('act_1', null),
    opened: times,
    acknowledged: fc.option(fc.nat(HOUR), { nil: undefined }),
    resolved: fc.option(fc.nat(HOUR)),
  })
  .map(({ opened, acknowledged, resolved, ...fields }) => ({
    ...fields,
    opened: new Date(opened),
    opened_at: iso(opened),
    ...(acknowledged === undefined ? {} : { acknowledged_at: iso(opened + acknowledged) }),
    resolved_at: resolved === null ? null : iso(opened + resolved),
  }))

/** Where an action is stored. An archived one that a late change has listed again is in both places, with old facts in the archive. */
const randomPlace = fc.constantFrom('listed', 'listed', 'archived', 'both')

test('MongoDB counts a day as the code does, for any actions and incidents, listed or archived', async () => {
  const totals = createMongoTotals(mongo)
  const isOfDay = (at: string) => Date.parse(at) >= DAY && Date.parse(at) < DAY + 24 * HOUR
  await fc.assert(
    fc.asyncProperty(
      fc.array(randomAction, { maxLength: 30 }),
      fc.array(randomIncident, { maxLength: 10 }),
      fc.array(randomPlace, { minLength: 30, maxLength: 30 }),
      async (actions, incidents, places) => {
        const withIds = <T extends object>(list: readonly T[]) =>
          list.map((fields, index) => ({ _id: String(index) as never, ...fields }))
        const store = async (name: string, documents: readonly object[]) => {
          await mongo.db.collection(name).deleteMany({})
          if (documents.length > 0) await mongo.db.collection(name).insertMany(documents)
        }
        const all = withIds(actions as unknown as ActionDocument[])
        const archived = all.map((action, index) =>
          countedPartOf(places[index] === 'both' ? { ...action, amount: 7 } : action, new Date(DAY)),
        )
        await Promise.all([
          store(
            'actions',
            all.filter((_, index) => places[index] !== 'archived'),
          ),
          store(
            'archived_actions',
            archived.filter((_, index) => places[index] !== 'listed'),
          ),
          store('incidents', withIds(incidents)),
        ])
        const wanted = countDay(
          (actions as unknown as ActionDocument[]).filter(
            one => one.connection_id === 'con_a' && one.merged_into === undefined && isOfDay(one.provider_created_at),
          ),
          (incidents as unknown as IncidentDocument[]).filter(
            one => one.connection_id === 'con_a' && one.action_id !== null && isOfDay(one.opened_at),
          ),
        )
        expect(await totals.count({ connectionId: 'con_a', day: DAY })).toEqual(wanted)
      },
    ),
    { numRuns: 30 },
  )
})

test('the time to a verdict is stored with the action, so that a count does not read its timeline', async () => {
  const theCase = play([{ at: DAY, input: refundSeen() }])
  const action = projectAction(theCase, onlyAction(theCase))
  const timeline = [{ at: iso(DAY + 1_234), what: 'explained', id: null, text: '' }] as const
  const decided = { ...action, first_seen_at: iso(DAY), timeline: [...timeline] }
  const listed = { mergedInto: null, lookResult: undefined, isDecided: true, listing: 'absent' } as const
  await createMongoProjections(mongo).saveActions([{ action: decided, ...listed }], DAY)
  const actions = mongo.db.collection<ActionDocument>('actions')
  await actions.updateOne({ _id: action.action_id }, { $set: { timeline: [] } })
  const day = Date.parse(action.provider_created_at.slice(0, 10))
  const { times } = await createMongoTotals(mongo).count({ connectionId: action.connection_id, day })
  expect(times.verdict).toEqual([[1_200, 1]])
})

const EMPTY = {
  totals: [],
  actors: [],
  times: { verdict: [], acknowledgement: [], resolution: [] },
  withoutNotification: 0,
}
const TOTAL = {
  verdict: 'pending',
  reason: 'awaiting_second_look',
  kind: 'refund',
  currency: 'eur',
  state: 'succeeded',
  mode: 'live',
}
const LEASED_UNTIL = 301_000
const oneOf = (count: number) => ({
  ...EMPTY,
  totals: [{ ...TOTAL, count, amount: count }] as DailyTotalsDocument['totals'],
})

test('a day that changes during its count is counted again, and an older count does not replace a newer one', async () => {
  const totals = createMongoTotals(mongo)
  const day = { projectId: 'prj_a', connectionId: 'con_a', day: DAY }
  const stored = async () => {
    const found = await mongo.db.collection<DailyTotalsDocument>('daily_totals').findOne({ _id: 'con_a/2026-11-21' })
    return { count: found?.totals[0]?.count, due: found?.count_at?.getTime() }
  }
  await totals.mark([day], 1_000)
  const first = await totals.claimNext(1_000, LEASED_UNTIL)
  expect(first).toEqual({ projectId: 'prj_a', connectionId: 'con_a', day: DAY, marks: 2 })
  if (first === undefined) return
  // Leased.
  expect(await totals.claimNext(LEASED_UNTIL - 1, 2 * LEASED_UNTIL)).toBeUndefined()
  await totals.mark([day], 2_000)
  await totals.save(first, oneOf(1))
  await totals.finish(first, 7_000)
  expect(await stored()).toEqual({ count: 1, due: 7_000 })
  const second = await totals.claimNext(7_000, LEASED_UNTIL)
  expect(second?.marks).toBe(4)
  if (second === undefined) return
  await totals.save(second, oneOf(2))
  // Until the sum of the project is stored.
  expect(await stored()).toEqual({ count: 2, due: LEASED_UNTIL })
  await totals.finish(second, 20_000)
  expect(await stored()).toEqual({ count: 2, due: undefined })
  // A process that stood still since the first count.
  await totals.save(first, oneOf(1))
  await totals.finish(first, 30_000)
  expect(await stored()).toEqual({ count: 2, due: undefined })
})

test('a day that is due is not marked again, and a count that outlived its lease does not hide what was listed in the meantime', async () => {
  const totals = createMongoTotals(mongo)
  const day = { projectId: 'prj_a', connectionId: 'con_a', day: DAY }
  const stored = async () => {
    const found = await mongo.db.collection<DailyTotalsDocument>('daily_totals').findOne({ _id: 'con_a/2026-11-21' })
    return { marks: found?.marks, count: found?.totals[0]?.count, due: found?.count_at?.getTime() }
  }
  await totals.mark([day], 1_000)
  await totals.mark([day, { ...day, connectionId: 'con_b' }], 2_000)
  expect(await stored()).toEqual({ marks: 1, count: undefined, due: 1_000 })
  expect(await mongo.db.collection('daily_totals').countDocuments()).toBe(2)

  const slow = await totals.claimNext(2_000, LEASED_UNTIL)
  if (slow === undefined) throw new Error('No day is due')
  // Its lease has ended: listed after its count, and without a mark.
  await totals.mark([day], LEASED_UNTIL)
  expect(await stored()).toMatchObject({ marks: 2, due: LEASED_UNTIL })
  await totals.save(slow, oneOf(1))
  await totals.finish(slow, LEASED_UNTIL + 2_000)
  expect(await stored(), 'counted again').toMatchObject({ due: LEASED_UNTIL + 2_000 })

  const next = await totals.claimNext(LEASED_UNTIL + 2_000, 2 * LEASED_UNTIL)
  if (next?.connectionId !== 'con_a') await totals.claimNext(LEASED_UNTIL + 2_000, 2 * LEASED_UNTIL)
  await totals.save({ ...slow, marks: 3 }, oneOf(2))
  await totals.save(slow, oneOf(1))
  expect(await stored(), 'a later claim has a higher number').toMatchObject({ count: 2 })
})

test('the sum of a project contains every count that was stored before it began, also when many processes sum at once', async () => {
  const totals = createMongoTotals(mongo)
  const sumAfterCount = async (index: number) => {
    const day = { projectId: 'prj_a', connectionId: `con_${index}`, day: DAY }
    await totals.mark([day], 1_000)
    await totals.save({ ...day, marks: 1 }, oneOf(1))
    await totals.sumProject(day)
  }
  const other = { projectId: 'prj_b', connectionId: 'con_other', day: DAY }
  await totals.mark([other], 1_000)
  await totals.save({ ...other, marks: 1 }, oneOf(1_000))
  await Promise.all(Array.from({ length: 30 }, (_, index) => sumAfterCount(index)))
  const stored = await mongo.db.collection<ProjectTotalsDocument>('project_totals').findOne({ _id: 'prj_a/2026-11-21' })
  expect(stored?.totals).toEqual([{ ...TOTAL, count: 30, amount: 30 }])
})

test('the next day to count, and whether a project has one, are read from the index of the few days that wait', async () => {
  const waiting = { project_id: 'prj_a', day: { $gte: new Date(DAY) }, count_at: { $gte: new Date(0) } }
  const days = mongo.db.collection('daily_totals')
  await days.insertMany(
    Array.from({ length: 500 }, (_, index) => ({
      _id: `con_${index}/2026-11-21` as never,
      ...{ project_id: 'prj_a', connection_id: `con_${index}`, day: new Date(DAY) },
      ...(index === 7 ? { count_at: new Date(1_000) } : {}),
    })),
  )
  for (const query of [
    days.find(waiting).limit(1),
    days
      .find({ count_at: { $lte: new Date(2_000) } })
      .sort({ count_at: 1 })
      .limit(1),
  ]) {
    const { executionStats } = await query.explain('executionStats')
    expect(executionStats).toMatchObject({ nReturned: 1, totalDocsExamined: 1 })
  }
})
