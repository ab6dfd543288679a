/**
 * The demo's week: a project with some days of history of all three providers, so that every page of the console has something to show.
 * It is created through the management API and by signed events, and it is not created again after somebody removed it.
 */
import type { Project } from '@backstop/contracts'
import { type Biller, startBillerApi, startReceiver } from '@backstop/simulator'
import { choosePorts } from '@backstop/stack'
import { ApiRefusal, type ManagementApi } from '../../management-api.ts'
import type { DemoRecords } from '../demo-records.ts'
import { makeWeek } from './accounts.ts'
import { BILLER_READ_KEY, createDemoProject } from './create-project.ts'
import {
  type HeldEvents,
  holdEvents,
  reportFailedRun,
  reportOperations,
  requestApproval,
  workOnIncidents,
} from './report-week.ts'

/** The week of an earlier start. */
export interface WeekRecord {
  readonly project_id: string
  /** The accounts of the week follow from these two numbers. */
  readonly seed: number
  readonly made_at_ms: number
  readonly receiver_port: number
  readonly biller_port: number
  /** False until the week is whole. A start after a crash removes it and makes a new one. */
  readonly is_whole: boolean
}

export interface DemoWeekOptions {
  readonly api: ManagementApi
  readonly records: DemoRecords<WeekRecord>
  /** True to make the week again after somebody removed it. */
  readonly again?: boolean
}

/** `whole` resolves when the week is whole, with its last incident opened; with false if stop() came first. */
export type DemoWeek =
  | { readonly kind: 'removed' }
  | { readonly kind: 'served'; readonly projectId: string; stop(): Promise<void> }
  | { readonly kind: 'made'; readonly projectId: string; readonly whole: Promise<boolean>; stop(): Promise<void> }

/** Serves the accounts of the existing week, or makes a week. Does neither if somebody removed its project. */
export async function runDemoWeek({ api, records, again = false }: DemoWeekOptions): Promise<DemoWeek> {
  const kept = records.read()
  const state = kept === undefined ? 'missing' : await stateOf(kept, api)
  if (state === 'removed' && !again) return { kind: 'removed' }
  if (kept !== undefined && state === 'unfinished') await api.delete(`/v1/projects/${kept.project_id}`)
  if (kept === undefined || state !== 'whole') return makeDemoWeek(api, records)
  const services = await startServices(kept)
  await services.serveBiller(makeWeek({ seed: kept.seed, madeAtMs: kept.made_at_ms }).accounts.memberships)
  return { kind: 'served', projectId: kept.project_id, stop: services.stop }
}

async function makeDemoWeek(api: ManagementApi, records: DemoRecords<WeekRecord>): Promise<DemoWeek> {
  const madeAtMs = Date.now()
  const seed = madeAtMs % 1_000_000
  const services = await startServices(undefined)
  const project = await createDemoProject(api, services, madeAtMs)
  const record: WeekRecord = {
    project_id: project.project_id,
    seed,
    made_at_ms: madeAtMs,
    receiver_port: services.ports.receiver,
    biller_port: services.ports.biller,
    is_whole: false,
  }
  records.write(record)
  const stopping = new AbortController()
  const stops = [services.stop]
  async function fill(): Promise<boolean> {
    let events: HeldEvents | undefined
    const { accounts, changes } = makeWeek({ seed, madeAtMs }, made => {
      events = holdEvents(made, project)
    })
    stops.push(async () => {
      await events?.stop()
    })
    await services.serveBiller(accounts.memberships)
    await reportOperations(api, project, changes)
    await reportFailedRun(api, project, changes)
    await events?.release()
    await requestApproval(api, project, changes)
    const isWhole = await workOnIncidents(api, project, changes, stopping.signal)
    if (isWhole) records.write({ ...record, is_whole: true })
    return isWhole
  }
  const whole = fill().catch(error => {
    // After stop() the product may be down already.
    if (stopping.signal.aborted) return false
    throw error
  })
  return {
    kind: 'made',
    projectId: project.project_id,
    whole,
    async stop() {
      stopping.abort()
      await Promise.all(stops.map(end => end()))
    },
  }
}

/** The receiver of the channels, and the address for the API of the biller, which is read again after each start. */
async function startServices(kept: WeekRecord | undefined) {
  const ports = await choosePorts({
    receiver: { remembered: kept?.receiver_port },
    biller: { remembered: kept?.biller_port },
  })
  const receiver = await startDemoReceiver(ports.receiver)
  const stops: (() => Promise<void>)[] = [() => receiver.stop()]
  return {
    ports,
    receiverUrl: receiver.url,
    billerUrl: `http://127.0.0.1:${ports.biller}`,
    async serveBiller(biller: Biller): Promise<void> {
      const keys = { readKeys: [BILLER_READ_KEY], writeKeys: [] }
      const server = await startBillerApi({ biller, ...keys, port: ports.biller, now: Date.now, rateLimits: [] })
      stops.push(() => server.stop())
    },
    stop: async () => void (await Promise.all(stops.map(end => end()))),
  }
}

async function stateOf(
  { project_id, is_whole }: WeekRecord,
  api: ManagementApi,
): Promise<'missing' | 'removed' | 'unfinished' | 'whole'> {
  try {
    const { archived_at } = await api.get<Project>(`/v1/projects/${project_id}`)
    if (archived_at !== null) return is_whole ? 'removed' : 'missing'
    return is_whole ? 'whole' : 'unfinished'
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 404) return 'missing'
    throw error
  }
}

/** Receives the alerts of the week. It refuses the first attempt of each delivery to /unsteady, to show a retry. */
function startDemoReceiver(port: number) {
  const seen = new Set<string>()
  return startReceiver({
    port,
    now: Date.now,
    answer({ path, webhookId = '' }) {
      const isFirst = path === '/unsteady' && !seen.has(webhookId)
      seen.add(webhookId)
      return isFirst
        ? { kind: 'answer', status: 503, body: '{"error":"starting up"}' }
        : { kind: 'answer', status: 200, body: path === '/slack' ? 'ok' : '{"ok":true}' }
    },
  })
}
