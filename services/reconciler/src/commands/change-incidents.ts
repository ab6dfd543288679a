import type { IncidentOutcomeDocument, StoredIncident } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import { lostRace } from '@backstop/kit/errors'
import type { OutboxPublisher } from '@backstop/kit/outbox'
import {
  type Case,
  type ChangeDecision,
  type ChangeIncident,
  changeStandalone,
  decideInCase,
  expectedChangeOfOwn,
} from '@backstop/verdict'
import { referenceOfAction } from '../batch/action-reference.ts'
import type { ExpectedChangeStore } from '../batch/expected-change-store.ts'
import type { WorkItem } from '../batch/work-item.ts'
import type { CaseStore } from '../cases/case-store.ts'
import type { ConnectionReader } from '../connections/connection-reader.ts'
import type { StandaloneIncidentStore } from '../incidents/standalone-incident-store.ts'
import type { IncidentOutcomeStore } from './incident-outcome-store.ts'
import type { OpenActionReader } from './open-action-store.ts'

export interface IncidentChangerOptions {
  readonly stores: {
    readonly cases: Pick<CaseStore, 'load'>
    readonly standaloneIncidents: Pick<StandaloneIncidentStore, 'find' | 'findAll' | 'pendingOf' | 'replace'>
    readonly openActions: Pick<OpenActionReader, 'byIds'>
    readonly connections: Pick<ConnectionReader, 'byIds' | 'projectName'>
    readonly incidentOutcomes: IncidentOutcomeStore
    readonly expectedChanges: Pick<ExpectedChangeStore, 'addAll'>
  }
  /** Decides the cases of these items (reconcile-batch.ts). */
  readonly reconcile: (items: readonly WorkItem[]) => Promise<void>
  /** Publishes the messages of incidents without a case. */
  readonly publisher: OutboxPublisher
  readonly clock: Clock
}

/** Changes incidents as people request, and records the outcome of each command. */
export interface IncidentChanger {
  /** A repeated command changes nothing and has the same outcome. */
  change(commands: readonly ChangeIncident[]): Promise<readonly IncidentOutcomeDocument[]>
}

type Decided = Exclude<ChangeDecision, { kind: 'changed' }> | { readonly kind: 'unknown' }

/** Attempts to change an incident that another process changes too. */
const MAX_ROUNDS = 5

export function createIncidentChanger(options: IncidentChangerOptions): IncidentChanger {
  const { stores, clock } = options
  return {
    async change(commands) {
      if (commands.length === 0) return []
      // A refused command that is delivered again stays refused, whatever happened to its incident since.
      const known = await stores.incidentOutcomes.byCommands([...new Set(commands.map(({ command_id }) => command_id))])
      const knownIds = new Set(known.map(({ _id }) => _id))
      const undecided = commands.filter(({ command_id }) => !knownIds.has(command_id))
      return [...known, ...(await changeUndecided(undecided))]
    },
  }

  async function changeUndecided(commands: readonly ChangeIncident[]): Promise<readonly IncidentOutcomeDocument[]> {
    if (commands.length === 0) return []
    const found = await stores.standaloneIncidents.findAll([...new Set(commands.map(({ incident_id }) => incident_id))])
    const incidents = new Map(found.map(incident => [incident.incident_id, incident]))
    const decided = new Map<string, Decided>()
    const ofActions: ChangeIncident[] = []
    for (const command of commands) {
      const incident = incidents.get(command.incident_id)
      if (incident === undefined || incident.project_id !== command.project_id) {
        decided.set(command.command_id, { kind: 'unknown' })
      } else if (incident.action_id === null) {
        decided.set(command.command_id, await changeAlone(command, options))
      } else ofActions.push(command)
    }
    const ofCases = await changeInCases(ofActions, incidents, options)
    const at = new Date(clock.now())
    const outcomes = commands.map(command =>
      outcomeOf(command, ofCases.get(command.command_id) ?? decided.get(command.command_id), at),
    )
    await stores.incidentOutcomes.insert(outcomes)
    return outcomes
  }
}

/** Changes an incident that is not about an action. */
async function changeAlone(
  command: ChangeIncident,
  { stores: { standaloneIncidents, connections }, publisher, clock }: IncidentChangerOptions,
): Promise<Decided> {
  const { incident_id: id, project_id } = command
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const known = await standaloneIncidents.find(id)
    if (known === undefined) return { kind: 'unknown' }
    const connection = (await connections.byIds([known.connection_id ?? ''])).get(known.connection_id ?? '')
    const names = { project: await connections.projectName(project_id), connection: connection?.name ?? null }
    const { decision, change } = changeStandalone(known, command, clock.now(), names)
    // The outbox may still hold entries of a write before a crash. They are published now.
    const pending = await (change === null ? standaloneIncidents.pendingOf(id) : standaloneIncidents.replace(change))
    if (pending === undefined) continue
    await publisher.publish([pending])
    return decision.kind === 'changed' ? { kind: 'repeated' } : decision
  }
  throw lostRace(`incident ${id}`)
}

/** Changes incidents of actions, through the batch code that writes cases. */
async function changeInCases(
  commands: readonly ChangeIncident[],
  incidents: ReadonlyMap<string, StoredIncident>,
  options: IncidentChangerOptions,
): Promise<ReadonlyMap<string, Decided>> {
  const decided = new Map<string, Decided>()
  let left = commands
  for (let round = 0; left.length > 0; round++) {
    if (round === MAX_ROUNDS) throw lostRace(`incident ${left[0]?.incident_id}`)
    const items = await itemsOf(left, incidents, options.stores)
    await options.reconcile(items)
    const cases = await options.stores.cases.load([...new Set(items.map(({ ref }) => ref))])
    for (const command of left) {
      const decision = readDecision(cases, command, options.clock.now())
      if (decision !== null) decided.set(command.command_id, decision)
    }
    left = left.filter(({ command_id }) => !decided.has(command_id))
  }
  const made = commands.filter(({ command_id }) => decided.get(command_id)?.kind === 'repeated')
  await explainOwnChanges(made, incidents, options)
  return decided
}

/**
 * The action of an incident that was resolved as the customer's own change is explained by an expected change, which is stored here. The action
 * is decided again after the incident is resolved, so that `incident.resolved` names the person. A command that is delivered again does
 * this again after a crash.
 */
async function explainOwnChanges(
  commands: readonly ChangeIncident[],
  incidents: ReadonlyMap<string, StoredIncident>,
  { stores, reconcile, clock }: IncidentChangerOptions,
): Promise<void> {
  const own = commands.filter(isOwnChange)
  if (own.length === 0) return
  const items = await itemsOf(own, incidents, stores)
  const actionIds = own.flatMap(({ incident_id }) => incidents.get(incident_id)?.action_id ?? [])
  const actions = new Map((await stores.openActions.byIds(actionIds)).map(action => [action._id, action]))
  const documents = own.flatMap(({ incident_id, change: { note }, actor }) => {
    const incident = incidents.get(incident_id)
    const action = actions.get(incident?.action_id ?? '')
    if (incident === undefined || action === undefined) return []
    return expectedChangeOfOwn(incident, action, { note, actor }, clock.now()) ?? []
  })
  await stores.expectedChanges.addAll(documents)
  await reconcile(items.map(({ projectId, ref }) => ({ kind: 'expected_changes', projectId, ref })))
}

type Resolution = Extract<ChangeIncident['change'], { kind: 'resolve' }>

function isOwnChange(command: ChangeIncident): command is ChangeIncident & { readonly change: Resolution } {
  return command.change.kind === 'resolve' && command.change.reason === 'our_own_change'
}

/** @returns null if the change is possible now: another change came between, so it must be tried again */
function readDecision(cases: readonly Case[], command: ChangeIncident, now: number): Decided | null {
  const decision = cases.map(theCase => decideInCase(theCase, command, now)).find(found => found !== undefined)
  if (decision === undefined) return { kind: 'unknown' }
  return decision.kind === 'changed' ? null : decision
}

type IncidentItem = Extract<WorkItem, { kind: 'change_incident' }>

async function itemsOf(
  commands: readonly ChangeIncident[],
  incidents: ReadonlyMap<string, StoredIncident>,
  { openActions, connections }: IncidentChangerOptions['stores'],
): Promise<IncidentItem[]> {
  const actionIdOf = ({ incident_id }: ChangeIncident) => incidents.get(incident_id)?.action_id ?? ''
  const found = await openActions.byIds([...new Set(commands.map(actionIdOf))])
  const known = await connections.byIds([...new Set(found.flatMap(action => action.connection_ids))])
  const refs = new Map(found.map(action => [action._id, referenceOfAction(action, known)]))
  return commands.flatMap(command =>
    (refs.get(actionIdOf(command)) ?? []).map(
      ref => ({ kind: 'change_incident', projectId: command.project_id, ref, command }) as const,
    ),
  )
}

function outcomeOf(
  { command_id, project_id, incident_id }: ChangeIncident,
  decided: Decided | undefined,
  at: Date,
): IncidentOutcomeDocument {
  const target = { _id: command_id, project_id, incident_id, at }
  if (decided?.kind === 'repeated') return { ...target, outcome: 'changed', reason: null, detail: null }
  if (decided?.kind === 'refused') {
    return { ...target, outcome: 'refused', reason: decided.reason, detail: decided.text }
  }
  return { ...target, outcome: 'refused', reason: 'unknown', detail: 'The incident is not kept any more' }
}
