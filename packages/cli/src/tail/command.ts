import { liveEvents, NoAnswer } from '@backstop/client'
import type { Command } from 'commander'
import { addCommand, type Context, choiceOption, parseCount } from '../define-command.ts'
import { chooseListedProject, LISTED_PROJECT } from '../projects/choose-project.ts'
import type { Surroundings } from '../surroundings.ts'
import { eventLine } from './event-line.ts'

const EVENTS = ['incident', 'action', 'delivery', 'connection', 'channel'] as const

interface TailOptions {
  readonly project?: string
  readonly event?: readonly (typeof EVENTS)[number][]
  readonly count?: number
  readonly json?: true
}

/** `backstop tail` */
export function addTail(program: Command, surroundings: Surroundings): void {
  addCommand(program, surroundings, {
    usage: 'tail',
    summary: 'Print changes as they happen, until Ctrl-C. A broken stream is resumed without loss.',
    examples: ['backstop tail --event incident'],
    options: [
      ['--project <id>', LISTED_PROJECT],
      choiceOption('--event <kind...>', 'only these kinds of changes', EVENTS),
      ['--count <n>', 'end after this number of changes', parseCount],
    ],
    run: tail,
  })
}

async function tail(context: Context, { project, event: kinds, count, json }: TailOptions): Promise<undefined> {
  const { out, err, client } = context
  const onBreak = (error: unknown) =>
    err(`${error instanceof NoAnswer ? error.message : 'The stream broke'}; it is resumed\n`)
  let printed = 0
  const projectId = await chooseListedProject(context, project)
  err('Waiting for changes; Ctrl-C ends\n')
  for await (const { type, data } of liveEvents(client, { projectId, onBreak })) {
    if (type !== 'reset' && kinds?.some(kind => kind === type) === false) continue
    out(json ? `${JSON.stringify({ event: type, data })}\n` : `${eventLine(type, { ...data })}\n`)
    printed += 1
    if (printed === count) return
  }
}
