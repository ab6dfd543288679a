import type { Command } from '@backstop/contracts'
import type { Consumer } from '@backstop/kit/bus'
import { createWorkLoop, type WorkLoopOptions } from '@backstop/kit/consume'
import type { DeadLetterStore } from '../dead-letters/dead-letter-store.ts'
import type { ChannelHealthKeeper } from '../health/channel-health-keeper.ts'
import type { FailingChannels } from '../health/failing-channels.ts'
import { beginReplay, type ReplayOptions } from '../replay/replay-walker.ts'
import { requeue } from '../replay/requeue-delivery.ts'
import {
  type AddressOfProject,
  type AddressReport,
  decideSuppression,
  suppressionId,
} from '../suppressed-addresses/rules/suppression.ts'
import type { SuppressionStore } from '../suppressed-addresses/suppression-store.ts'

export interface CommandConsumerOptions
  extends Pick<WorkLoopOptions<'command'>, 'bus' | 'metrics' | 'onFatal'>,
    ReplayOptions {
  readonly suppressions: SuppressionStore
  readonly deadLetters: Pick<DeadLetterStore, 'markReplayed'>
  readonly health: Pick<ChannelHealthKeeper, 'enable'>
  readonly failing: Pick<FailingChannels, 'checkReach'>
  /** Called when a replay has begun. */
  onReplay(): void
}

type AddressCommand = Extract<Command, { kind: 'suppress_address' | 'unsuppress_address' | 'soft_bounce' }>
type OtherCommand = Exclude<Command, AddressCommand>

/**
 * Executes commands for data that the notifier owns (deliveries, replays, dead letters, channel health, suppressed
 * addresses). The
 * offset of a command is committed after its execution, and executing a command twice changes nothing. Commands for
 * other services are skipped.
 */
export function createCommandConsumer(options: CommandConsumerOptions): Consumer {
  return createWorkLoop<'command'>({
    ...options,
    groupId: 'notifier.commands',
    topics: { commands: 'command' },
    deadTopic: 'deliveries.dead',
    async handle(messages) {
      const commands = messages.map(({ message }) => message)
      await decideAddresses(commands.filter(isAboutAddress), options)
      for (const command of commands) {
        if (!isAboutAddress(command)) await doCommand(command, options)
      }
    },
  })
}

function isAboutAddress(command: Command): command is AddressCommand {
  return 'address' in command
}

async function doCommand(command: OtherCommand, options: CommandConsumerOptions): Promise<void> {
  const { logger } = options
  const { kind, command_id, project_id } = command
  const done = (facts: Record<string, unknown>) =>
    logger.info({ kind, command_id, project_id, ...facts }, 'command.done')
  switch (command.kind) {
    case 'retry_delivery': {
      const { delivery_id } = command
      const delivery = await options.requeues.find(delivery_id)
      if (delivery === undefined) return done({ delivery_id, reason: 'unknown' })
      const sent = await requeue({ requestId: command_id, projectId: project_id, atOnce: true }, [delivery], options)
      return done({ delivery_id, reason: sent === 0 ? 'refused' : 'requeued' })
    }
    case 'replay_deliveries': {
      const reason = await beginReplay(command, options)
      options.onReplay()
      return done({ replay_id: command.replay_id, reason })
    }
    case 'enable_channel': {
      const { channel_id } = command
      const reason = await options.health.enable(channel_id, project_id, Date.parse(command.requested_at))
      return done({ channel_id, reason })
    }
    case 'erase_deliveries': {
      const { connection_id } = command
      const deliveries = await options.requeues.erasePersonalData(project_id, { connectionId: connection_id })
      return done({ connection_id, deliveries })
    }
    case 'erase_person': {
      const { erasure_id, action_ids, customer_ids, is_last, requested_at } = command
      const at = new Date(requested_at)
      const about = { erasureId: erasure_id, actionIds: action_ids, customerIds: customer_ids, at }
      const deliveries = is_last ? 0 : await options.requeues.erasePersonalData(project_id, about)
      const finishedAt = is_last ? new Date(requested_at) : null
      await options.requeues.recordErasure({ id: erasure_id, projectId: project_id }, deliveries, finishedAt)
      return done({ erasure_id, deliveries })
    }
    case 'mark_replayed': {
      const { dead_letters, requested_at } = command
      const replayed = dead_letters.map(({ dead_letter_id: id, parked_at }) => ({ id, parkedAt: new Date(parked_at) }))
      await options.deadLetters.markReplayed(replayed, new Date(requested_at))
      return done({ dead_letters: replayed.length })
    }
    // Commands for the reconciler.
    case 'open_channel_incident':
    case 'resolve_channel_incident':
    case 'open_key_incident':
    case 'open_recovered_key_incident':
    case 'resolve_key_incident':
    case 'settle_operation':
    case 'connection_ready':
    case 'apply_expected_change':
    case 'change_incident':
    case 'change_incidents':
    case 'replay_inbox':
    case 'archive_actions':
      return
    default:
      return command satisfies never
  }
}

/**
 * Reads and writes all addresses of a batch with one command each, because mail providers report bounces by the
 * hundred.
 */
async function decideAddresses(commands: readonly AddressCommand[], options: CommandConsumerOptions): Promise<void> {
  if (commands.length === 0) return
  const { suppressions, logger } = options
  const known = await suppressions.load([...new Set(commands.map(command => suppressionId(addressOf(command))))])
  const changes = new Map(known) as Map<string, NonNullable<ReturnType<typeof known.get>> | null>
  for (const command of commands) {
    const of = addressOf(command)
    const id = suppressionId(of)
    const { next, reason } = decideSuppression(
      of,
      changes.get(id) ?? null,
      reportOf(command),
      Date.parse(command.requested_at),
    )
    changes.set(id, next)
    // The address is personal data, so it is stored but not logged.
    const { kind, command_id, project_id } = command
    logger.info({ kind, command_id, project_id, reason }, 'command.done')
  }
  await suppressions.save(changes)
  await options.failing.checkReach([...new Set(commands.filter(isEndOfMail).map(({ project_id }) => project_id))])
}

/** True if the address may get no more mail from now on. */
function isEndOfMail({ kind }: AddressCommand): boolean {
  return kind !== 'unsuppress_address'
}

function addressOf({ project_id, address }: AddressCommand): AddressOfProject {
  return { projectId: project_id, address }
}

function reportOf(command: AddressCommand): AddressReport {
  switch (command.kind) {
    case 'suppress_address':
      return { kind: 'suppress', reason: command.reason, detail: command.detail }
    case 'unsuppress_address':
      return { kind: 'unsuppress' }
    case 'soft_bounce':
      return { kind: 'soft_bounce', detail: command.detail }
    default:
      return command satisfies never
  }
}
