import type { AlertChannel, AlertChannelPatch } from '@backstop/client'
import type { Command } from 'commander'
import { addCommand, addGroup, parseOverlapHours, withListOptions } from '../add-command.ts'
import { CommandFault } from '../fault.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, type ListOptions, printItem, printList } from '../output/print.ts'
import { readSecret } from '../read-secret.ts'
import type { Surroundings } from '../surroundings.ts'

/** `backstop channels …` */
export function addChannels(program: Command, surroundings: Surroundings): void {
  const channels = addGroup(program, 'channels', 'List, test and enable alert channels, and replace their secrets')
  withListOptions(addCommand(channels, 'list', 'List alert channels with their health.', 'backstop channels list'))
    .option('--project <id>', 'only channels of this project')
    .action(({ project, ...options }: ListOptions & { project?: string }) =>
      printList(
        openClient(surroundings).alertChannels.list(project === undefined ? {} : { project_id: project }),
        [
          { title: 'CHANNEL', of: ({ channel_id }) => channel_id },
          { title: 'KIND', of: ({ config }) => config.kind },
          { title: 'HEALTH', of: ({ enabled, health }) => (enabled ? health.state : 'disabled') },
          { title: 'NAME', of: ({ name }) => name },
          { title: 'LAST ERROR', of: ({ health }) => health.last_error },
        ],
        options,
        surroundings,
      ),
    )
  addCommand(
    channels,
    'test <channel_id>',
    'Send a test delivery. Exit code 1 if the receiver does not accept it.',
    'backstop channels test chn_0123',
  ).action(async (id: string, options: JsonOption) => {
    // A receiver may take 15 s to answer.
    const result = await openClient(surroundings).alertChannels.test(id, { timeoutMs: 60_000 })
    const answer = result.status === null ? 'no answer' : `answer ${result.status}`
    const text = `Delivered: ${answer} after ${result.latency_ms ?? '?'} ms\n`
    if (result.delivered || options.json) printItem(result, text, options, surroundings)
    if (result.delivered) return
    throw new CommandFault('failed', `Not delivered: ${result.error ?? answer}`)
  })
  addCommand(
    channels,
    'enable <channel_id>',
    'Enable a channel that its failures or a person disabled.',
    'backstop channels enable chn_0123',
  ).action(async (id: string, options: JsonOption) => {
    const channel = await openClient(surroundings).alertChannels.change(id, { enabled: true })
    printItem(
      channel,
      `${id} is enabled. Send what it missed: backstop replay deliveries ${id}\n`,
      options,
      surroundings,
    )
  })
  addSecrets(channels, surroundings)
}

/** `backstop channels secret`, `backstop channels credential` */
function addSecrets(channels: Command, surroundings: Surroundings): void {
  addCommand(
    channels,
    'secret <channel_id>',
    'Give a webhook a new signing secret. Prints it once. The previous one signs too until the overlap ends; until then a repetition needs --force.',
    'backstop channels secret chn_0123 --overlap-hours 24',
  )
    .option('--overlap-hours <n>', 'how long the previous secret signs too; 24 by default', parseOverlapHours)
    .option('--force', 'replace the secret during the overlap too: the previous secret stops signing now')
    .action(async (id: string, { overlapHours, force, ...options }: RotationOptions) => {
      const { alertChannels } = openClient(surroundings)
      if (force !== true) refuseDuringOverlap(await alertChannels.get(id), surroundings.now())
      const rotation = overlapHours === undefined ? {} : { overlap_hours: overlapHours }
      const channel = await alertChannels.rotateSecret(id, rotation)
      if (!options.json) surroundings.err(`The secret of ${id} is shown only here:\n`)
      printItem(channel, `${channel.secret ?? ''}\n`, options, surroundings)
    })
  addCommand(
    channels,
    'credential <channel_id>',
    'Store a new webhook URL (Slack, Teams, Discord) or routing key (PagerDuty), which is read from standard input.',
    'backstop channels credential chn_0123 < url.txt',
  ).action(async (id: string, options: JsonOption) => {
    const { alertChannels } = openClient(surroundings)
    const { config } = await alertChannels.get(id)
    const field = credentialFieldOf(config.kind)
    const secret = await readSecret(`The new ${field}: `, surroundings)
    const channel = await alertChannels.change(id, { config: { [field]: secret } })
    printItem(channel, `Stored the ${field} of ${id}\n`, options, surroundings)
  })
}

interface RotationOptions extends JsonOption {
  readonly overlapHours?: number
  readonly force?: boolean
}

/**
 * A channel has two secrets at most, so a second rotation would drop the secret that the receiver still verifies with.
 * @throws CommandFault if the previous secret still signs
 */
function refuseDuringOverlap({ channel_id, config }: AlertChannel, now: number): void {
  const until = config.kind === 'webhook' ? config.previous_secret_expires_at : null
  if (until == null || Date.parse(until) <= now) return
  throw new CommandFault(
    'failed',
    `${channel_id} got a new secret already, and its previous secret signs until ${until}: another one would drop the previous secret now`,
    'Repeat it after that time, or with --force if the receiver has the newest secret or the previous one leaked',
  )
}

/** @throws CommandFault if channels of this kind have no such credential */
function credentialFieldOf(kind: AlertChannel['config']['kind']): keyof NonNullable<AlertChannelPatch['config']> {
  switch (kind) {
    case 'slack':
    case 'teams':
    case 'discord':
      return 'webhook_url'
    case 'pagerduty':
      return 'routing_key'
    case 'webhook':
      throw new CommandFault('misused', 'A webhook has a signing secret', 'backstop channels secret <channel_id>')
    case 'email':
      throw new CommandFault('misused', 'A mail channel has no credential of its own; SMTP_URL has it')
    default:
      return kind satisfies never
  }
}
