import { liveEvents, NoAnswer } from '@backstop/client'
import { type Command, Option } from 'commander'
import { addCommand, parseCount } from '../add-command.ts'
import { openClient } from '../open-client.ts'
import type { JsonOption } from '../output/print.ts'
import { chooseListedProject, LISTED_PROJECT } from '../projects/choose-project.ts'
import type { Surroundings } from '../surroundings.ts'
import { eventLine } from './event-line.ts'

const EVENTS = ['incident', 'action', 'delivery', 'connection', 'channel'] as const

interface TailOptions extends JsonOption {
  readonly project?: string
  readonly event?: readonly (typeof EVENTS)[number][]
  readonly count?: number
}

/** `backstop tail` */
export function addTail(program: Command, surroundings: Surroundings): void {
  addCommand(
    program,
    'tail',
    'Print changes as they happen, until Ctrl-C. A broken stream is resumed without loss.',
    'backstop tail --event incident',
  )
    .option('--project <id>', LISTED_PROJECT)
    .addOption(new Option('--event <kind...>', 'only these kinds of changes').choices(EVENTS))
    .option('--count <n>', 'end after this number of changes', parseCount)
    .action((options: TailOptions) => tail(options, surroundings))
}

async function tail({ project, event: kinds, count, json }: TailOptions, surroundings: Surroundings): Promise<void> {
  const { out, err } = surroundings
  const onBreak = (error: unknown) =>
    err(`${error instanceof NoAnswer ? error.message : 'The stream broke'}; it is resumed\n`)
  let printed = 0
  const client = openClient(surroundings)
  const projectId = await chooseListedProject(client, project, surroundings)
  err('Waiting for changes; Ctrl-C ends\n')
  for await (const { type, data } of liveEvents(client, { projectId, onBreak })) {
    if (type !== 'reset' && kinds?.some(kind => kind === type) === false) continue
    out(json ? `${JSON.stringify({ event: type, data })}\n` : `${eventLine(type, { ...data })}\n`)
    printed += 1
    if (printed === count) return
  }
}
