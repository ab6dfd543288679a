import type { Command } from '@backstop/contracts'
import type { Consumer } from '@backstop/kit/bus'
import { createWorkLoop, type WorkLoopOptions } from '@backstop/kit/consume'
import type { Ledger } from '@backstop/ledger'
import type { ChangeIncident } from '@backstop/verdict'
import type { ArchivedActionStore } from '../archive/archived-action-store.ts'
import { finishOperation } from '../batch/finish-operation.ts'
import type { ConnectionReader } from '../connections/connection-reader.ts'
import type { InboxReplayer } from '../inbox-replay/inbox-replayer.ts'
import type { RequestedIncidents } from '../incidents/requested-incidents.ts'
import { canRead } from '../reading/connection-readers.ts'
import type { HeldHints } from '../reading/held-hints.ts'
import type { SweepStore } from '../sweep/sweep-store.ts'
import type { TotalsStore } from '../totals/totals-store.ts'
import type { ExpectedChangeApplier } from './apply-expected-changes.ts'
import type { IncidentChanger } from './change-incidents.ts'
import type { BulkChanger } from './change-many-incidents.ts'

export interface CommandConsumerOptions
  extends Pick<WorkLoopOptions<'command'>, 'bus' | 'producer' | 'codec' | 'clock' | 'logger' | 'metrics' | 'onFatal'> {
  readonly incidents: RequestedIncidents
  readonly ledger: Pick<Ledger, 'transition' | 'get'>
  readonly connections: Pick<ConnectionReader, 'byIds'>
  readonly heldHints: HeldHints
  readonly expectedChanges: ExpectedChangeApplier
  readonly inboxReplayer: Pick<InboxReplayer, 'begin'>
  readonly incidentChanger: IncidentChanger
  readonly bulkChanger: Pick<BulkChanger, 'begin'>
  readonly sweeps: Pick<SweepStore, 'wake'>
  readonly archivedActions: ArchivedActionStore
  readonly totals: Pick<TotalsStore, 'mark'>
}

/** Carries out the commands that concern the reconciler, and skips commands for other services. */
export function createCommandConsumer(options: CommandConsumerOptions): Consumer {
  return createWorkLoop<'command'>({
    ...options,
    groupId: 'reconciler.commands',
    topics: { commands: 'command' },
    deadTopic: 'inbound.dead',
    async handle(messages) {
      const commands = messages.map(({ message }) => message)
      // In one batch, because a storm is acknowledged with one command for each of its incidents.
      const outcomes = await options.incidentChanger.change(commands.filter(isIncidentChange))
      for (const { _id: command_id, project_id, incident_id, outcome, reason } of outcomes) {
        options.logger.info(
          { kind: 'change_incident', command_id, project_id, incident_id, outcome, reason },
          'command.done',
        )
      }
      for (const command of commands) {
        const reason = await carryOutCommand(command, options)
        if (reason === undefined) continue
        const { kind, command_id, project_id } = command
        const target = 'channel_id' in command ? { channel_id: command.channel_id } : {}
        options.logger.info({ kind, command_id, project_id, ...target, reason }, 'command.done')
      }
    },
  })
}

function isIncidentChange(command: Command): command is ChangeIncident {
  return command.kind === 'change_incident'
}

/** @returns the result, or undefined for a command that is carried out elsewhere */
async function carryOutCommand(command: Command, options: CommandConsumerOptions): Promise<string | undefined> {
  switch (command.kind) {
    case 'open_channel_incident':
    case 'open_key_incident':
    case 'open_recovered_key_incident':
      return options.incidents.open(command)
    case 'resolve_channel_incident':
    case 'resolve_key_incident':
      return options.incidents.resolve(command)
    case 'settle_operation':
      return finishOperation(command, options)
    case 'connection_ready':
      return startReading(command.connection_id, options)
    case 'apply_expected_change':
      return options.expectedChanges.apply(command.expected_change_id)
    case 'archive_actions':
      return archiveActions(command, options)
    case 'change_incidents':
      return options.bulkChanger.begin(command)
    case 'replay_inbox':
      return options.inboxReplayer.begin(command)
    // Changed together, before the other commands.
    case 'change_incident':
    // Commands for the notifier.
    case 'retry_delivery':
    case 'replay_deliveries':
    case 'enable_channel':
    case 'erase_deliveries':
    case 'erase_person':
    case 'mark_replayed':
    case 'suppress_address':
    case 'unsuppress_address':
    case 'soft_bounce':
      return undefined
    default:
      return command satisfies never
  }
}

async function archiveActions(
  { project_id, archive_id, actions }: Extract<Command, { kind: 'archive_actions' }>,
  { archivedActions, totals, clock, logger }: CommandConsumerOptions,
): Promise<string> {
  const { moved, days } = await archivedActions.archive(project_id, actions, clock.now())
  await totals.mark(
    days.map(day => ({ ...day, projectId: project_id })),
    clock.now(),
  )
  logger.info({ project_id, archive_id, actions: moved }, 'actions.archived')
  return 'archived'
}

/** A connection has become readable: re-reads its held hints and starts its sweep. */
async function startReading(
  connectionId: string,
  { connections, heldHints, sweeps, clock }: CommandConsumerOptions,
): Promise<string> {
  const connection = (await connections.byIds([connectionId])).get(connectionId)
  if (connection === undefined || !canRead(connection)) return 'cannot_be_read'
  await sweeps.wake({ id: connectionId, projectId: connection.project_id }, clock.now(), null)
  const count = await heldHints.request(connection)
  return count === 0 ? 'nothing_held' : 'hints_asked_for'
}
