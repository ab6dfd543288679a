import type { AlertChannel, AlertChannelPatch } from '@backstop/client'
import type { Command } from 'commander'
import { addCommand, addGroup, addList, given, parseOverlapHours } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { readSecret } from '../read-input.ts'
import type { Surroundings } from '../surroundings.ts'

/** `backstop channels …` */
export function addChannels(program: Command, surroundings: Surroundings): void {
  const channels = addGroup(program, 'channels', 'List, test and enable alert channels, and replace their secrets')
  addList(channels, surroundings, {
    usage: 'list',
    summary: 'List alert channels with their health.',
    examples: ['backstop channels list'],
    options: [['--project <id>', 'only channels of this project']],
    read: ({ client }, { project }: { project?: string }) => client.alertChannels.list(given({ project_id: project })),
    columns: [
      { title: 'CHANNEL', of: ({ channel_id }) => channel_id },
      { title: 'KIND', of: ({ config }) => config.kind },
      { title: 'HEALTH', of: ({ enabled, health }) => (enabled ? health.state : 'disabled') },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'LAST ERROR', of: ({ health }) => health.last_error },
    ],
  })
  addCommand(channels, surroundings, {
    usage: 'test <channel_id>',
    summary: 'Send a test delivery. Exit code 1 if the receiver does not accept it.',
    examples: ['backstop channels test chn_0123'],
    async run({ client }, _, id) {
      // A receiver may take 15 s to answer.
      const result = await client.alertChannels.test(id, { timeoutMs: 60_000 })
      const answer = result.status === null ? 'no answer' : `answer ${result.status}`
      if (result.delivered) {
        return { item: result, text: `Delivered: ${answer} after ${result.latency_ms ?? '?'} ms\n` }
      }
      const fault = new CommandFault('failed', `Not delivered: ${result.error ?? answer}`)
      return { item: result, text: '', fault }
    },
  })
  addCommand(channels, surroundings, {
    usage: 'enable <channel_id>',
    summary: 'Enable a channel that its failures or a person disabled.',
    examples: ['backstop channels enable chn_0123'],
    async run({ client }, _, id) {
      const channel = await client.alertChannels.change(id, { enabled: true })
      return { item: channel, text: `${id} is enabled. Send what it missed: backstop replay deliveries ${id}\n` }
    },
  })
  addCommand(channels, surroundings, {
    usage: 'secret <channel_id>',
    summary:
      'Give a webhook a new signing secret. Prints it once. The previous one signs too until the overlap ends; until then a repetition needs --force.',
    examples: ['backstop channels secret chn_0123 --overlap-hours 24'],
    options: [
      ['--overlap-hours <n>', 'how long the previous secret signs too; 24 by default', parseOverlapHours],
      ['--force', 'replace the secret during the overlap too: the previous secret stops signing now'],
    ],
    async run({ client, now }, { overlapHours, force }: { overlapHours?: number; force?: boolean }, id) {
      if (force !== true) refuseDuringOverlap(await client.alertChannels.get(id), now())
      const channel = await client.alertChannels.rotateSecret(id, given({ overlap_hours: overlapHours }))
      const note = `The secret of ${id} is shown only here:\n`
      return { item: channel, text: `${channel.secret ?? ''}\n`, note }
    },
  })
  addCommand(channels, surroundings, {
    usage: 'credential <channel_id>',
    summary:
      'Store a new webhook URL (Slack, Teams, Discord) or routing key (PagerDuty), which is read from standard input.',
    examples: ['backstop channels credential chn_0123 < url.txt'],
    async run(context, _, id) {
      const { alertChannels } = context.client
      const { config } = await alertChannels.get(id)
      const field = credentialFieldOf(config.kind)
      const secret = await readSecret(`The new ${field}: `, context)
      const channel = await alertChannels.change(id, { config: { [field]: secret } })
      return { item: channel, text: `Stored the ${field} of ${id}\n` }
    },
  })
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
