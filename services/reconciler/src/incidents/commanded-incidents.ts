import type { Command, Incident, Names } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import { crashPoint } from '@backstop/kit/crash-points'
import { lostRace } from '@backstop/kit/errors'
import type { OutboxPublisher, PendingOutbox } from '@backstop/kit/outbox'
import {
  type ExpiringKeyCommand,
  type FailingChannelCommand,
  type IncidentChange,
  type IncidentResolution,
  openChannelIncident,
  openKeyIncident,
  resolveChannelIncident,
  resolveKeyIncident,
} from '@backstop/verdict'
import type { ConnectionReader } from '../connections/connection-reader.ts'
import type { StandaloneIncidentStore } from './standalone-incident-store.ts'

/** A pair of commands that open and resolve an incident. */
interface CommandPair {
  readonly open: Command
  readonly resolve: Extract<Command, { incident_id: string }>
}

/**
 * Opens and resolves the incidents that another service requests by commands. Each method returns the result as a text for the log.
 */
export interface CommandedIncidents<Pair extends CommandPair> {
  open(command: Pair['open']): Promise<string>
  resolve(command: Pair['resolve']): Promise<string>
}

/** The incidents of disabled channels, as the notifier requests them. */
export type ChannelIncidents = CommandedIncidents<FailingChannelCommand>
/** The incidents of API keys that expire soon, as admin-api requests them. */
export type KeyIncidents = CommandedIncidents<ExpiringKeyCommand>

export interface CommandedIncidentOptions {
  readonly incidents: StandaloneIncidentStore
  readonly connections: Pick<ConnectionReader, 'projectName'>
  readonly publisher: OutboxPublisher
  readonly clock: Clock
}

interface IncidentRules<Pair extends CommandPair> {
  open(command: Pair['open'], now: number, names: Names): IncidentChange
  resolve(command: Pair['resolve'], known: Incident | undefined, now: number, names: Names): IncidentResolution
}

/** Attempts to write an incident that another process may write too. */
const MAX_ROUNDS = 5

export function createChannelIncidents(options: CommandedIncidentOptions): ChannelIncidents {
  return createCommandedIncidents(options, { open: openChannelIncident, resolve: resolveChannelIncident })
}

export function createKeyIncidents(options: CommandedIncidentOptions): KeyIncidents {
  return createCommandedIncidents(options, { open: openKeyIncident, resolve: resolveKeyIncident })
}

function createCommandedIncidents<Pair extends CommandPair>(
  { incidents, connections, publisher, clock }: CommandedIncidentOptions,
  rules: IncidentRules<Pair>,
): CommandedIncidents<Pair> {
  const namesOf = async ({ project_id }: Command) => ({
    project: await connections.projectName(project_id),
    connection: null,
  })
  async function tell(pending: PendingOutbox): Promise<void> {
    crashPoint('reconciler.after-channel-incident')
    await publisher.publish([pending])
  }
  return {
    async open(command) {
      await tell(await incidents.open(rules.open(command, clock.now(), await namesOf(command))))
      return 'opened'
    },
    async resolve(command) {
      const { incident_id } = command
      const names = await namesOf(command)
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const resolution = rules.resolve(command, await incidents.find(incident_id), clock.now(), names)
        // The outbox may still hold entries of a write before a crash. They are published now.
        const isKept = resolution.kind === 'keep'
        const pending = isKept ? await incidents.pendingOf(incident_id) : await incidents.replace(resolution.change)
        if (pending === undefined) continue
        await tell(pending)
        return resolution.reason
      }
      throw lostRace(`incident ${incident_id}`)
    },
  }
}
