import { ApiProblem, type Client, type Connection, NoAnswer } from '@backstop/client'
import { showableText } from '@backstop/contracts'
import type { Command } from 'commander'
import { addCommand, type Context, parseCount } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { counted } from '../output/rules/counted.ts'
import type { Surroundings } from '../surroundings.ts'
import { checkKafka, checkMongo, checkRegistry, type Limits } from './read-infrastructure.ts'
import { type Finding, finding } from './rules/finding.ts'
import { type ApiFacts, type ConnectionFacts, judgeApi } from './rules/judge-api.ts'
import { type ClockReading, judgeClocks, nameFullDisk } from './rules/judge-infrastructure.ts'
import { type Infrastructure, readInfrastructure } from './settings.ts'

/** What doctor found, and what it could not check. */
interface Diagnosis {
  readonly findings: readonly Finding[]
  readonly checked: readonly string[]
  readonly not_checked: readonly { readonly area: string; readonly why: string }[]
}

interface DoctorOptions {
  readonly diskPercent: number
  readonly lagSeconds: number
}

/** `backstop doctor` */
export function addDoctor(program: Command, surroundings: Surroundings): void {
  addCommand(program, surroundings, {
    usage: 'doctor',
    summary: 'Find faults of the installation, each with its remedy. Changes nothing. Exit code 1 if there are any.',
    examples: ['backstop doctor'],
    options: [
      ['--disk-percent <n>', 'report a disk that is at least this full', parseCount, 90],
      ['--lag-seconds <n>', 'report messages that are not processed for this long', parseCount, 60],
    ],
    async run(context, { diskPercent, lagSeconds }: DoctorOptions) {
      const limits = { diskUse: diskPercent / 100, lagMs: lagSeconds * 1_000 }
      const diagnosis = await showWaiting(context, () => diagnose(context, limits))
      return { item: diagnosis, text: diagnosisText(diagnosis), fault: faultOf(diagnosis) }
    },
  })
}

function faultOf(diagnosis: Diagnosis): CommandFault | undefined {
  if (diagnosis.checked.length === 0) {
    return new CommandFault('nothing_there', 'Nothing was checked', 'Set the addresses that docs/doctor.md lists')
  }
  const { length } = faultsOf(diagnosis)
  return length === 0 ? undefined : new CommandFault('failed', `${counted(length, 'fault')} found`)
}

/** On a terminal, shows why nothing is printed yet. */
async function showWaiting<T>({ err, isTerminal }: Surroundings, work: () => Promise<T>): Promise<T> {
  if (isTerminal) err('Checking; a dependency that hangs takes up to 45 s')
  try {
    return await work()
  } finally {
    if (isTerminal) err('\r\u001b[K')
  }
}

async function diagnose(context: Context, limits: Limits): Promise<Diagnosis> {
  const infrastructure = readInfrastructure(context)
  const parts = await Promise.all([
    checkApi(context),
    ...checksOf(infrastructure, limits, context.now).map(async ({ area, setting, check }) =>
      check === undefined ? { area, why: `${setting} is not set` } : { area, ...(await check()) },
    ),
  ])
  const findings = parts.flatMap(part => ('findings' in part ? part.findings : []))
  const clocks = parts.flatMap(part => ('clock' in part && part.clock !== undefined ? [part.clock] : []))
  return {
    findings: [...nameFullDisk(findings), ...judgeClocks(clocks)],
    checked: parts.flatMap(part => ('findings' in part ? [part.area] : [])),
    not_checked: parts.flatMap(part => ('why' in part ? [{ area: part.area, why: part.why }] : [])),
  }
}

interface Checked {
  readonly findings: readonly Finding[]
  readonly clock?: ClockReading | undefined
}

interface Check {
  readonly area: string
  readonly setting: string
  /** Undefined if the address is not known. */
  readonly check: (() => Promise<Checked>) | undefined
}

function checksOf(
  { kafka, mongo, registryUrl, topicPrefix, secretKeys, credentials }: Infrastructure,
  limits: Limits,
  now: () => number,
): Check[] {
  return [
    {
      area: 'Kafka, its topics and consumers',
      setting: 'KAFKA_BROKERS',
      check: kafka && (async () => ({ findings: await checkKafka(kafka, topicPrefix, credentials, limits, now) })),
    },
    {
      area: 'MongoDB, its indexes and disk',
      setting: 'MONGO_URL',
      check: mongo && (() => checkMongo(mongo, credentials, secretKeys, limits, now)),
    },
    {
      area: 'the schema registry',
      setting: 'SCHEMA_REGISTRY_URL',
      check:
        registryUrl === undefined
          ? undefined
          : async () => ({ findings: await checkRegistry(registryUrl, topicPrefix, credentials) }),
    },
  ]
}

async function checkApi(context: Context): Promise<({ area: string } & Checked) | { area: string; why: string }> {
  const area = 'the management API, processes, connections and channels'
  const { now } = context
  try {
    const { client } = context
    const clock = await readApiClock(client, now)
    return { area, findings: judgeApi(await readApiFacts(client, now()), now()), clock }
  } catch (error) {
    if (error instanceof CommandFault && error.exit === 'nothing_there') return { area, why: error.remedy }
    if (error instanceof NoAnswer) {
      return { area, findings: [finding('api_down', error.message, 'Start admin-api, and check BACKSTOP_URL')] }
    }
    if (error instanceof ApiProblem && (error.status === 401 || error.status === 403)) {
      const remedy = 'Use a key with the scope admin for all projects; backstop keys recover creates one'
      return { area, findings: [finding('key_refused', `The key was refused: ${error.detail}`, remedy)] }
    }
    if (error instanceof ApiProblem && error.status >= 500) {
      const remedy = 'Look at the log of admin-api, and at /readyz on its OPS_PORT'
      return { area, findings: [finding('api_down', `The management API failed: ${error.detail}`, remedy)] }
    }
    throw error
  }
}

/** The header Date has whole seconds, so the reading is half a second late on average. */
async function readApiClock(client: Client, now: () => number): Promise<ClockReading | undefined> {
  const sentAtMs = now()
  const response = await client.request('GET', '/v1/projects', { query: { limit: 1 } })
  const tripMs = now() - sentAtMs
  await response.body?.cancel()
  const dateMs = Date.parse(response.headers.get('date') ?? '')
  if (Number.isNaN(dateMs)) return undefined
  return { host: 'admin-api', aheadMs: dateMs + 500 - sentAtMs - tripMs / 2, errorMs: 500 + tripMs / 2 }
}

const faultsOf = ({ findings }: Diagnosis) => findings.filter(({ severity }) => severity !== 'note')

const MARKS = { error: '✗', warning: '!', note: '·' } as const

function diagnosisText(diagnosis: Diagnosis): string {
  const { findings, checked, not_checked } = diagnosis
  const lines = findings.map(
    ({ code, severity, what, remedy, docs }) =>
      `${MARKS[severity]} ${code}: ${showableText(what)}\n    ${showableText(remedy)}\n    ${docs}\n`,
  )
  const skipped = not_checked.map(({ area, why }) => `- not checked: ${area} (${why})\n`)
  const healthy =
    faultsOf(diagnosis).length === 0 && checked.length > 0 ? [`✓ No faults in ${checked.join('; ')}\n`] : []
  return [...lines, ...healthy, ...skipped].join('')
}

/** Dead letters that are counted; more are stated as "or more". */
const COUNTED = 100

/** Older dead letters are no news, and the messages among them are no longer kept. */
const DEAD_LETTERS_MS = 30 * 86_400_000

/** Reads the facts that the management API has. @throws ApiProblem NoAnswer */
export async function readApiFacts(client: Client, now: number): Promise<ApiFacts> {
  const connections: ConnectionFacts[] = []
  for await (const { project_id } of client.projects.list({ limit: 100 })) {
    for await (const connection of client.connections.list(project_id, { limit: 100 })) {
      if (connection.status === 'active') connections.push(await factsOfConnection(client, connection))
    }
  }
  const channels: ApiFacts['channels'][number][] = []
  for await (const channel of client.alertChannels.list({ limit: 100 })) channels.push(channel)
  const deadLetters = await client.deadLetters.list({
    limit: COUNTED,
    from: new Date(now - DEAD_LETTERS_MS).toISOString(),
  })
  const { keys } = await client.secretKeys.get()
  const { processes } = await client.processes.get()
  return {
    connections,
    channels,
    deadLetters: { kinds: deadLetters.data.map(({ kind }) => kind), more: deadLetters.next_cursor !== null },
    secretKeys: keys,
    processes,
  }
}

async function factsOfConnection(client: Client, connection: Connection): Promise<ConnectionFacts> {
  const { data } = await client.inbox.list({ connection_id: connection.connection_id, limit: 1 })
  const [last] = data
  const facts = { ...connection, lastWebhookAt: last?.received_at ?? null }
  // The types of thin events about objects of API v1 begin so.
  if (connection.kind !== 'processor' || !last?.event_type.startsWith('v1.')) return facts
  return { ...facts, namesClients: await namesClients(client, connection.project_id) }
}

async function namesClients(client: Client, projectId: string): Promise<boolean> {
  for await (const { provider, kind } of client.actors.list(projectId, { limit: 200 })) {
    if (provider === 'processor' && (kind === 'api_key' || kind === 'dashboard_user')) return true
  }
  return false
}
