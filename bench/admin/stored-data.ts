/** Fills a database with the documents of a large installation. */
import { sampleAction } from '@backstop/channels/test'
import {
  type ActionDocument,
  type CollectionName,
  type ConnectionDocument,
  type DailyTotal,
  type DailyTotalsDocument,
  type DeliveryDocument,
  type IncidentDocument,
  type ProjectDocument,
  type ProjectTotalsDocument,
  type StormDocument,
  type StormMemberDocument,
  searchKeysOfAction,
  type TimeBucket,
  type Verdict,
} from '@backstop/contracts'
import type { Db } from 'mongodb'

/** Numbers of documents. */
export interface StoredCounts {
  readonly actions: number
  readonly incidents: number
  readonly deliveries: number
  /** Incidents of one storm besides `incidents`; without it there is no storm. */
  readonly stormMembers?: number
}

const DAY_MS = 86_400_000
/** The newest documents are of now, because the console shows the last days first. */
const ENDED_AT = Date.now()

/** A day before the newest documents, in UTC, as `2026-11-21`. */
function dayBefore(days: number): string {
  return new Date(ENDED_AT - days * DAY_MS).toISOString().slice(0, 10)
}

/** The ids and days by which the calls of the benchmark find documents. */
export const STORED = {
  project: 'prj_bench',
  connection: 'con_bench_0',
  channel: 'chn_bench_0',
  storm: 'stm_bench',
  /** The month before. */
  month: dayBefore(30).slice(0, 7),
  /** The last day, the days a week and a quarter before it. */
  to: dayBefore(0),
  week: dayBefore(7),
  quarter: dayBefore(80),
} as const

const CONNECTIONS = 20
const CHANNELS = 10
const CURRENCIES = ['eur', 'usd', 'jpy', 'gbp', 'chf', 'sek', 'isk', 'pln', 'kwd', 'brl']
const INSERT_AT_ONCE = 2_000
/** The documents are spread over this time. */
const DAYS = 90

/** Inserts the documents. @param onInserted called with the number of inserted documents */
export async function storeData(db: Db, counts: StoredCounts, onInserted: (inserted: number) => void): Promise<void> {
  let inserted = 0
  const insert = async <D extends { _id: string }>(name: CollectionName, count: number, make: (index: number) => D) => {
    const collection = db.collection<{ _id: string }>(name)
    for (let at = 0; at < count; at += INSERT_AT_ONCE) {
      const some = Array.from({ length: Math.min(INSERT_AT_ONCE, count - at) }, (_, index) => make(at + index))
      await collection.insertMany(some, { ordered: false })
      inserted += some.length
      onInserted(inserted)
    }
  }
  const at = new Date(ENDED_AT)
  await db
    .collection<ProjectDocument>('projects')
    .insertOne({ _id: STORED.project, name: 'Bench', branding: {}, version: 1, created_at: at, updated_at: at })
  await insert('connections', CONNECTIONS, connectionDocument)
  await insert('daily_totals', CONNECTIONS * DAYS, index => dailyTotalsDocument(index, counts))
  await insert('project_totals', DAYS, index => projectTotalsDocument(index, counts))
  await insert('actions', counts.actions, index => actionDocument(index, counts))
  await insert('incidents', counts.incidents, index => incidentDocument(index, counts))
  await insert('deliveries', counts.deliveries, index => deliveryDocument(index, counts))
  const { stormMembers = 0 } = counts
  if (stormMembers === 0) return
  await insert('storms', 1, stormDocument)
  await insert('actions', stormMembers, index => stormAction(index))
  await insert('incidents', stormMembers, index => stormIncident(index))
  await insert('storm_members', stormMembers, stormMember)
}

/** The time of one of many documents, spread evenly; the last is the newest. */
function timeOf(index: number, count: number): Date {
  return new Date(ENDED_AT - Math.floor(((count - index) / count) * DAYS * DAY_MS))
}

const currencyOf = (index: number) => CURRENCIES[index % CURRENCIES.length] as string

const VERDICTS: readonly Verdict[] = ['explained', 'explained', 'explained', 'not_alerted', 'unexplained']
const SAMPLE = sampleAction()
if (SAMPLE.event !== 'incident.opened' || SAMPLE.data.action === null) throw new Error('The sample has no action')
const SAMPLE_ACTION = SAMPLE.data.action
const SAMPLE_INCIDENT = SAMPLE.data.incident

function actionDocument(index: number, { actions }: StoredCounts): ActionDocument {
  const { action_id: _, ...sample } = SAMPLE_ACTION
  const connection = `con_bench_${index % CONNECTIONS}`
  const at = timeOf(index, actions)
  const action = {
    ...sample,
    _id: `act_bench_${index}`,
    project_id: STORED.project,
    connection_id: connection,
    connection_ids: [connection],
    subject: `pi_bench_${index}`,
    provider_ref: `re_bench_${index}`,
    amount: 100 + (index % 10_000),
    currency: currencyOf(index),
    verdict: VERDICTS[index % VERDICTS.length] ?? 'explained',
    customer: {
      id: `cus_${index % 50_000}`,
      name: `Customer ${index % 50_000}`,
      email: `c${index % 50_000}@example.com`,
    },
    first_seen_at: at.toISOString(),
    first_seen: at,
  } as ActionDocument
  return { ...action, search: searchKeysOfAction(action) }
}

function connectionDocument(index: number): ConnectionDocument {
  const at = new Date(ENDED_AT - DAYS * DAY_MS)
  return {
    _id: `con_bench_${index}`,
    project_id: STORED.project,
    kind: 'processor',
    name: `Account ${index}`,
    out_of_band: 'alert',
    status: 'active',
    inbound_secrets: [],
    read_key: null,
    site: null,
    api_base: null,
    version: 1,
    created_at: at,
    updated_at: at,
    deleted_at: null,
  }
}

/** The sum of the daily totals of all connections. */
function projectTotalsDocument(index: number, counts: StoredCounts): ProjectTotalsDocument {
  const { day, totals, times } = dailyTotalsDocument(index * CONNECTIONS, counts)
  const sums = totals.map(total => ({
    ...total,
    count: total.count * CONNECTIONS,
    amount: total.amount * CONNECTIONS,
  }))
  const timesOf = (buckets: TimeBucket[]) => buckets.map(([at, count]): TimeBucket => [at, count * CONNECTIONS])
  return {
    _id: `${STORED.project}/${day.toISOString().slice(0, 10)}`,
    project_id: STORED.project,
    day,
    version: 1,
    totals: sums,
    times: {
      verdict: timesOf(times.verdict),
      acknowledgement: timesOf(times.acknowledgement),
      resolution: timesOf(times.resolution),
    },
  }
}

/** The totals of one connection and day, as the reconciler counts them: a total for each verdict, and times in 30 classes. */
function dailyTotalsDocument(index: number, { actions }: StoredCounts): DailyTotalsDocument {
  const connection_id = `con_bench_${index % CONNECTIONS}`
  const day = new Date(Math.floor(ENDED_AT / DAY_MS - Math.floor(index / CONNECTIONS)) * DAY_MS)
  const count = Math.round(actions / CONNECTIONS / DAYS / VERDICTS.length)
  const total = {
    reason: 'nothing_explains_it',
    kind: 'refund',
    state: 'succeeded',
    mode: 'live',
    count,
    amount: count * 5_000,
  } as const
  const totals = VERDICTS.flatMap(verdict =>
    CURRENCIES.map((currency): DailyTotal => ({ ...total, verdict, currency })),
  )
  const times = Array.from({ length: 30 }, (_, step): [number, number] => [step * 2_000, 1 + step])
  return {
    _id: `${connection_id}/${day.toISOString().slice(0, 10)}`,
    project_id: STORED.project,
    connection_id,
    day,
    marks: 1,
    counted: 1,
    totals,
    times: { verdict: times, acknowledgement: times, resolution: times },
  }
}

function incidentDocument(index: number, { incidents }: StoredCounts): IncidentDocument {
  const { incident_id: _, ...sample } = SAMPLE_INCIDENT
  const at = timeOf(index, incidents)
  return {
    ...sample,
    _id: `inc_bench_${index}`,
    project_id: STORED.project,
    connection_id: `con_bench_${index % CONNECTIONS}`,
    action_id: `act_bench_${index}`,
    state: index % 50 === 0 ? 'open' : 'resolved',
    opened_at: at.toISOString(),
    opened: at,
  } as IncidentDocument
}

function deliveryDocument(index: number, { deliveries, incidents }: StoredCounts): DeliveryDocument {
  const at = timeOf(index, deliveries)
  return {
    _id: `dlv_bench_${index}`,
    project_id: STORED.project,
    channel_id: `chn_bench_${index % CHANNELS}`,
    channel_kind: 'webhook',
    alert_id: `alr_bench_${index % incidents}`,
    event: 'incident.opened',
    test: false,
    state: index % 1_000 === 0 ? 'dead' : 'delivered',
    reason: 'The receiver answered 200',
    attempts: [{ attempt: 1, at, duration_ms: 12.4, outcome: 'delivered', status: 200, error: null, response: 'ok' }],
    next_attempt: null,
    alert: { ...SAMPLE, project_id: STORED.project },
    created_at: at,
    updated_at: at,
  }
}

/** A storm of one refund a second, which has not ended. */
function stormDocument(): StormDocument {
  const at = new Date(ENDED_AT)
  return {
    _id: STORED.storm,
    project_id: STORED.project,
    connection_id: STORED.connection,
    provider: 'processor',
    state: 'open',
    began_at: at,
    last_member_at: at,
    version: 1,
    report: 1,
    reported_at: at,
    reported_version: 1,
    reported_incidents: 0,
    reported_resolved: 0,
    reported_unacknowledged: 0,
    acknowledgements: 0,
    seen_acknowledgements: 0,
    ended_at: null,
  }
}

/** Older than the newest refunds, which stay the first rows of the list. */
const stormTimeOf = (index: number) => new Date(ENDED_AT - DAY_MS + index * 1_000)

function stormAction(index: number): ActionDocument {
  const at = stormTimeOf(index)
  const { search: _, ...sample } = actionDocument(index, { actions: 1, incidents: 0, deliveries: 0 })
  const action = {
    ...sample,
    _id: `act_storm_${index}`,
    connection_id: STORED.connection,
    connection_ids: [STORED.connection],
    subject: `pi_storm_${index}`,
    provider_ref: `re_storm_${index}`,
    verdict: 'unexplained',
    incident_id: `inc_storm_${index}`,
    first_seen_at: at.toISOString(),
    first_seen: at,
  } as ActionDocument
  return { ...action, search: searchKeysOfAction(action) }
}

function stormIncident(index: number): IncidentDocument {
  const at = stormTimeOf(index)
  return {
    ...incidentDocument(index, { actions: 0, incidents: 1, deliveries: 0 }),
    _id: `inc_storm_${index}`,
    connection_id: STORED.connection,
    action_id: `act_storm_${index}`,
    state: 'open',
    opened_at: at.toISOString(),
    opened: at,
  } as IncidentDocument
}

function stormMember(index: number): StormMemberDocument {
  return {
    _id: `inc_storm_${index}`,
    project_id: STORED.project,
    connection_id: STORED.connection,
    action_id: `act_storm_${index}`,
    provider: 'processor',
    kind: 'refund',
    opened_at: stormTimeOf(index),
    storm_id: STORED.storm,
    alone: false,
    amount: 100 + index,
    currency: currencyOf(index),
    state: 'succeeded',
    subject: `pi_storm_${index}`,
    facts: {
      ...{ channel: 'api', key_name: null, user_fingerprint: null },
      ...{ mode: 'live', customer_id: null, refund_reason: null },
    },
    recorded_at: stormTimeOf(index),
    acknowledged_at: null,
    resolved_at: null,
    explained: false,
  }
}
