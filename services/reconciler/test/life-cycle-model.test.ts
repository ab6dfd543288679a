/**
 * Random changes of incidents by people against a model: single and bulk changes, repeats, stale versions, processes that are killed at any
 * step, and causes that end by themselves. The changer, its stores and the batch code are those of production, with the stores in memory.
 */
import {
  type Alert,
  type Command,
  deterministicId,
  type IncidentBulkDocument,
  type IncidentState,
  objectReference,
  type StoredIncident,
} from '@backstop/contracts'
import { createLogger } from '@backstop/kit/logger'
import { createManualClock } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import type { ChangeIncident } from '@backstop/verdict'
import { MINUTE, PROJECT, propertySettings, refundShown, SECOND, sourceOf, T0 } from '@backstop/verdict/test'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import { createIncidentChanger } from '../src/commands/change-incidents.ts'
import { createBulkChanger } from '../src/commands/change-many-incidents.ts'
import type { IncidentBulkStore } from '../src/commands/incident-bulk-store.ts'
import { createRequestedIncidents } from '../src/incidents/requested-incidents.ts'
import { connectionOf } from './connection-of.ts'
import { CRASH_POINTS, withCrashPoints } from './crash-points.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'

class Killed extends Error {}

type Change = ChangeIncident['change']
const PEOPLE = ['Ann', 'Bob'].map(name => ({ kind: 'person', id: `per_${name}`, name }) as const)
/** The first two incidents are about refunds, which have cases. The third is about a channel. */
const INCIDENTS = 3

/** What the model knows of an incident. */
interface Modelled {
  state: IncidentState
  acknowledgedBy: string | null
  assignee: string | null
  reason: string | null
  resolvedBy: string | null
  reopened: number
  /** The commands that changed it, in their order. */
  readonly changes: string[]
  readonly events: string[]
}

/** Applies a change of an incident to the model. @returns false if the model refuses it */
function applyToModel(id: string, known: Modelled, commandId: string, change: Change, by: string): boolean {
  const { state } = known
  const isAllowed = {
    acknowledge: state === 'open',
    resolve: state !== 'resolved',
    // An incident that ended by itself stays closed, and so does one whose action is explained as our own change.
    reopen: state === 'resolved' && known.reason !== null && !isExplained(id, known),
    assign: true,
    comment: true,
  }[change.kind]
  if (!isAllowed) return false
  known.changes.push(commandId)
  switch (change.kind) {
    case 'acknowledge':
      Object.assign(known, { state: 'acknowledged', acknowledgedBy: by })
      known.events.push('incident.acknowledged')
      break
    case 'resolve':
      Object.assign(known, { state: 'resolved', reason: change.reason, resolvedBy: by })
      known.events.push('incident.resolved')
      break
    case 'reopen':
      known.reopened++
      Object.assign(known, { state: 'open', acknowledgedBy: null, reason: null, resolvedBy: null })
      known.events.push('incident.opened')
      break
    case 'assign':
      known.assignee = change.assignee
      break
    case 'comment':
      break
    default:
      change satisfies never
  }
  return true
}

function isExplained(id: string, { reason }: Modelled): boolean {
  return id !== CHANNEL.incident_id && reason === 'our_own_change'
}

async function openWorld() {
  const clock = createManualClock(T0 + SECOND)
  const stores = createMemoryStores()
  stores.contents.connections.set('con_a', connectionOf('con_a', {}))
  let killAt: string | null = null
  const pass = (point: string) => {
    if (point !== killAt) return
    killAt = null
    throw new Killed(point)
  }
  const sent: Alert[] = []
  const parts: ReconcileParts = {
    stores,
    ledger: openMemoryBooks({ announce: () => {} }).ledger,
    publisher: {
      async publish(outboxes) {
        for (const { documentId, entries } of outboxes) {
          for (const { topic, message } of entries) if (topic === 'alerts') sent.push(message as Alert)
          pass('after the publication')
          const published = [{ documentId, entryIds: entries.map(({ id }) => id) }]
          await stores.cases.outbox.published(published)
          await stores.standaloneIncidents.outbox.published(published)
        }
        return { stuck: 0 }
      },
    },
    producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
    codec: { encode: () => Buffer.alloc(0) },
    clock,
    rules: { recheckDelayMs: MINUTE },
  }
  const reconcile = async (items: readonly WorkItem[]) =>
    void (await reconcileBatch(items, withCrashPoints(parts, pass)))
  const changer = createIncidentChanger({ stores, reconcile, publisher: parts.publisher, clock })
  const logger = createLogger('test', 'silent')
  const bulkDocuments = new Map<string, IncidentBulkDocument>()
  const incidentBulks: IncidentBulkStore = {
    ...stores.incidentBulks,
    async advance(bulk, fields) {
      const next = await stores.incidentBulks.advance(bulk, fields)
      if (next !== undefined) bulkDocuments.set(next._id, next)
      return next
    },
  }
  const bulks = createBulkChanger({ bulks: incidentBulks, changer, clock, logger })
  await openRefundIncidents(reconcile, stores.contents, clock)
  const channels = createRequestedIncidents({
    incidents: stores.standaloneIncidents,
    connections: stores.connections,
    publisher: parts.publisher,
    clock,
  })
  const aboutChannel = () => ({
    ...CHANNEL,
    command_id: `cmd_channel_${clock.now()}`,
    requested_at: new Date(clock.now()).toISOString(),
  })
  await channels.open({ ...aboutChannel(), kind: 'open_channel_incident', reason: 'It answers 500' })
  const ids = [...stores.contents.incidents.keys()]
  expect(ids).toHaveLength(INCIDENTS)
  for (const timer of bulks.timers) timer.start()
  return {
    clock,
    changer,
    bulks,
    ids,
    outcomeOf: (id: string) => stores.contents.incidentOutcomes.get(id),
    shown: (id: string) => stores.contents.incidents.get(id) as StoredIncident,
    bulkOf: (id: string) => bulkDocuments.get(id),
    /** The channel of the third incident works again. */
    endCause: () => channels.resolve({ ...aboutChannel(), kind: 'resolve_channel_incident' }),
    stop: () => Promise.all(bulks.timers.map(timer => timer.stop())),
    killAt: (point: string | null) => {
      killAt = point
    },
    /** The events about an incident, each message once. */
    eventsOf: (id: string) => {
      const about = sent.filter(({ data }) => 'incident' in data && data.incident.incident_id === id)
      return [...new Map(about.map(alert => [alert.alert_id, alert.event])).values()]
    },
  }
}
type World = Awaited<ReturnType<typeof openWorld>>

/** Two refunds that nothing explains, with one open incident each. */
async function openRefundIncidents(
  reconcile: (items: readonly WorkItem[]) => Promise<void>,
  { cases }: ReturnType<typeof createMemoryStores>['contents'],
  clock: ReturnType<typeof createManualClock>,
): Promise<void> {
  const connection = { id: 'con_a', createdAt: T0 - MINUTE }
  await reconcile(
    ['1', '2'].map(name => ({
      kind: 'sighting',
      projectId: PROJECT,
      sighting: refundShown({ providerRef: `re_${name}`, about: [`pi_${name}`], createdAt: T0 }),
      source: sourceOf(`evt_${name}`, 'refund.created', { connection }),
    })),
  )
  await clock.advance(MINUTE)
  const records = [...cases.values()].flatMap(({ actions }) => actions)
  await reconcile(
    records.map(({ id, look, providerRef }) => ({
      kind: 'recheck',
      recheck: {
        project_id: PROJECT,
        ref: objectReference(PROJECT, 'processor', undefined, providerRef ?? ''),
        look_id: id,
        due_at: new Date(look?.dueAt ?? 0).toISOString(),
      },
    })),
  )
}

const CHANNEL = { project_id: PROJECT, incident_id: 'inc_channel', channel_id: 'chn_1', channel_name: 'Ops' } as const

const aboutPerson = fc.constantFrom(...PEOPLE)
const aChange = fc.oneof(
  fc.constant<Change>({ kind: 'acknowledge' }),
  fc
    .constantFrom('our_own_change', 'fraud_or_leaked_key', 'duplicate')
    .map((reason): Change => ({ kind: 'resolve', reason, note: null })),
  fc.constant<Change>({ kind: 'reopen' }),
  fc.constantFrom('Ops', null).map((assignee): Change => ({ kind: 'assign', assignee })),
  fc.constant<Change>({ kind: 'comment', text: 'Looking' }),
)
const aPoint = fc.option(fc.constantFrom(...CRASH_POINTS, 'after the publication'), { nil: null, freq: 2 })
const aStep = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      index: fc.nat(INCIDENTS - 1),
      change: aChange,
      actor: aboutPerson,
      /** The version that the person read: none is stated, the present one, or one before. */
      read: fc.constantFrom('none', 'present', 'before'),
      point: aPoint,
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('repeat' as const), which: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('bulk' as const),
      change: aChange,
      states: fc.subarray<IncidentState>(['open', 'acknowledged', 'resolved'], { minLength: 1 }),
      actor: aboutPerson,
      point: aPoint,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cause_ends' as const) }) },
)
type Step = typeof aStep extends fc.Arbitrary<infer S> ? S : never

/** Runs the steps in the world and in the model, and compares both after each. */
async function runSteps(steps: readonly Step[]): Promise<void> {
  const world = await openWorld()
  const model = new Map(
    world.ids.map((id): [string, Modelled] => [
      id,
      {
        ...{ state: 'open', acknowledgedBy: null, assignee: null, reason: null, resolvedBy: null, reopened: 0 },
        ...{ changes: [], events: ['incident.opened'] },
      },
    ]),
  )
  const known = (id: string) => model.get(id) as Modelled
  const sent: ChangeIncident[] = []
  const outcomes = new Map<string, 'changed' | 'refused'>()
  for (const [number, step] of steps.entries()) {
    await world.clock.advance(SECOND)
    if (step.kind === 'change') {
      const id = world.ids[step.index] as string
      const { version } = world.shown(id)
      const stated = { none: {}, present: { expected_version: version }, before: { expected_version: version - 1 } }
      const command = commandFor(`cmd_${number}`, id, step, stated[step.read as keyof typeof stated], world)
      sent.push(command)
      const isCurrent = step.read !== 'before'
      const isChanged = isCurrent && applyToModel(id, known(id), command.command_id, step.change, step.actor.name)
      outcomes.set(command.command_id, isChanged ? 'changed' : 'refused')
      await killed(world, step.point, () => world.changer.change([command]))
    } else if (step.kind === 'repeat') {
      const command = sent[step.which % Math.max(1, sent.length)]
      if (command !== undefined) await world.changer.change([command])
    } else if (step.kind === 'cause_ends') {
      await world.endCause()
      const channel = known(CHANNEL.incident_id)
      if (channel.state !== 'resolved') {
        channel.state = 'resolved'
        channel.events.push('incident.resolved')
      }
    } else await runBulk(step, `blk_${number}`, world, known)
    for (const id of world.ids) expect(shownOf(world, id), `after step ${number}`).toEqual(known(id))
    for (const [id, outcome] of outcomes) expect(world.outcomeOf(id)?.outcome).toBe(outcome)
  }
  await world.stop()
}

/** Delivers again what a killed process has not acknowledged. */
async function killed(world: World, point: string | null, run: () => Promise<unknown>): Promise<void> {
  world.killAt(point)
  try {
    await run()
  } catch (error) {
    if (!(error instanceof Killed)) throw error
    await run()
  } finally {
    world.killAt(null)
  }
}

function commandFor(
  command_id: string,
  incident_id: string,
  { change, actor }: Pick<Extract<Step, { kind: 'change' }>, 'change' | 'actor'>,
  stated: { readonly expected_version?: number },
  { clock }: World,
): ChangeIncident {
  const requested_at = new Date(clock.now()).toISOString()
  const target = { project_id: PROJECT, incident_id, requested_at }
  return { kind: 'change_incident', command_id, ...target, change, actor, ...stated }
}

async function runBulk(
  { change, states, actor, point }: Extract<Step, { kind: 'bulk' }>,
  bulk_id: string,
  world: World,
  known: (id: string) => Modelled,
): Promise<void> {
  const selected = world.ids.filter(id => {
    const { state, reason } = known(id)
    return states.includes(state) && !(change.kind === 'reopen' && state === 'resolved' && reason === null)
  })
  const changed = selected.filter(id =>
    applyToModel(id, known(id), deterministicId('command', bulk_id, id), change, actor.name),
  )
  const requested_at = new Date(world.clock.now()).toISOString()
  const selection = { states, to: new Date(world.clock.now() + 1).toISOString() }
  world.killAt(point)
  await world.bulks.begin({
    ...{ kind: 'change_incidents', command_id: `cmd_${bulk_id}`, project_id: PROJECT, requested_at },
    ...{ bulk_id, selection, change, actor },
  } as Extract<Command, { kind: 'change_incidents' }>)
  // A page that a killed process had claimed is repeated after 30 s.
  await world.clock.advance(MINUTE)
  world.killAt(null)
  expect(world.bulkOf(bulk_id)).toMatchObject({
    state: 'done',
    changed: changed.length,
    refused: selected.length - changed.length,
  })
}

/** The incident as it is stored, in the form of the model. */
function shownOf(world: World, id: string): Modelled {
  const { state, acknowledged_by, assignee, reason, resolved_by, reopened, changes = [] } = world.shown(id)
  return {
    state,
    acknowledgedBy: acknowledged_by ?? null,
    assignee: assignee ?? null,
    reason: reason ?? null,
    resolvedBy: resolved_by,
    reopened: reopened ?? 0,
    changes: changes.map(({ command_id }) => command_id),
    events: world.eventsOf(id),
  }
}

test('any changes of incidents, single and in bulk, repeated and interrupted, have the outcomes of the model', async () => {
  await fc.assert(fc.asyncProperty(fc.array(aStep, { minLength: 1, maxLength: 25 }), runSteps), propertySettings(400))
})
