import type { Command } from 'commander'
import { addCommand, addGroup, withListOptions } from '../add-command.ts'
import { CommandFault } from '../fault.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, type ListOptions, printItem, printList } from '../output/print.ts'
import type { Surroundings } from '../surroundings.ts'

/** `backstop channels …` */
export function addChannels(program: Command, surroundings: Surroundings): void {
  const channels = addGroup(program, 'channels', 'List alert channels, and send test deliveries')
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
}
