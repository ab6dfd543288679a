import {
  ApiProblem,
  type Client,
  type DeadLetter,
  type InboxReplay,
  type Replay,
  type ReplayedDeadLetters,
} from '@backstop/client'
import type { Command } from 'commander'
import {
  addCommand,
  addGroup,
  addList,
  type Context,
  choiceOption,
  given,
  type Printed,
  requiredOption,
} from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { counted } from '../output/rules/counted.ts'
import { shownTime } from '../output/table.ts'
import { readIsoTime, readTime } from '../read-time.ts'
import type { Surroundings } from '../surroundings.ts'

interface Window {
  readonly from: string
  readonly to?: string
}

interface Filter {
  readonly project?: string
  readonly kind?: DeadLetter['kind']
  readonly from?: string
  readonly to?: string
}

const OUTCOMES = ['recorded', 'ignored', 'held', 'hinted', 'parked'] as const

const WINDOW = [
  requiredOption('--from <time>', 'start of the window: 2026-11-21, 2026-11-21T10:00:00Z, or an age such as 24h'),
  ['--to <time>', 'end of the window; now by default'],
] as const

const FILTER = [
  ['--project <project_id>', 'only this project'],
  ['--kind <kind>', 'only this kind: notification, delivery, operation, …'],
  ['--from <time>', 'only dead letters since: 2026-11-21, 2026-11-21T10:00:00Z, or an age such as 24h'],
  ['--to <time>', 'only dead letters before this time'],
] as const

/** `backstop replay …` */
export function addReplay(program: Command, surroundings: Surroundings): void {
  const replay = addGroup(program, 'replay', 'Repeat what failed: deliveries, notifications and dead letters')
  addCommand(replay, surroundings, {
    usage: 'deliveries <channel_id>',
    summary: 'Send the dead deliveries of a channel again.',
    examples: ['backstop replay deliveries chn_0123 --from 24h'],
    options: WINDOW,
    run: async ({ client, now }, window: Window, channel_id) =>
      printedReplay(await client.replays.create({ channel_id, ...readWindow(window, now()) })),
  })
  addCommand(replay, surroundings, {
    usage: 'notifications <connection_id>',
    summary: 'Decide the notifications of a connection again.',
    examples: ['backstop replay notifications con_0123 --from 24h'],
    options: [...WINDOW, choiceOption('--outcome <outcome>', 'only notifications with this outcome', OUTCOMES)],
    async run(
      { client, now },
      { outcome, ...window }: Window & { outcome?: (typeof OUTCOMES)[number] },
      connection_id,
    ) {
      const selection = { connection_id, ...readWindow(window, now()), ...given({ outcome }) }
      return printedReplay(await client.inboxReplays.create(selection))
    },
  })
  addCommand(replay, surroundings, {
    usage: 'show <replay_id>',
    summary: 'Show the progress of a replay.',
    examples: ['backstop replay show rpl_0123'],
    run: async ({ client }, _, id) => printedReplay(await findReplay(client, id)),
  })
  addDeadLetters(replay, surroundings)
}

function addDeadLetters(replay: Command, surroundings: Surroundings): void {
  addList(replay, surroundings, {
    usage: 'dead-letters',
    summary: 'List everything that could not be used: notifications, deliveries and messages.',
    examples: ['backstop replay dead-letters --kind notification'],
    options: FILTER,
    read: ({ client, now }, filter: Filter) => client.deadLetters.list(readFilter(filter, now())),
    columns: [
      { title: 'DEAD LETTER', of: ({ dead_letter_id }) => dead_letter_id },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'AT', of: ({ parked_at }) => shownTime(parked_at) },
      { title: 'REASON', of: ({ reason }) => reason },
      { title: 'CANNOT BE REPLAYED', of: ({ repair_blocked_by }) => repair_blocked_by ?? '' },
    ],
  })
  addCommand(replay, surroundings, {
    usage: 'dead-letter <dead_letter_id>',
    summary: 'Send a dead letter again.',
    examples: ['backstop replay dead-letter dlt_0123'],
    async run({ client }, _, id) {
      const sent = await client.deadLetters.replay(id)
      return { item: sent, text: `${sent.dead_letter_id} was sent to ${sent.topic}\n` }
    },
  })
  addCommand(replay, surroundings, {
    usage: 'dismiss <dead_letter_id>',
    summary: 'Remove a message that nothing can use from the dead letters, without sending it.',
    examples: ['backstop replay dismiss dlt_0123'],
    async run({ client }, _, id) {
      const dismissed = await client.deadLetters.dismiss(id)
      return { item: dismissed, text: `${dismissed.dead_letter_id} is dismissed: ${dismissed.reason}\n` }
    },
  })
  addCommand(replay, surroundings, {
    usage: 'dismiss-all',
    summary: 'Remove all messages of a filter that nothing can use from the dead letters, without sending them.',
    examples: ['backstop replay dismiss-all --kind command --from 24h'],
    options: [...FILTER, ['--yes', 'do not ask']],
    run: dismissAll,
  })
  addCommand(replay, surroundings, {
    usage: 'all-dead-letters',
    summary: 'Send all dead letters of a filter again.',
    examples: ['backstop replay all-dead-letters --kind notification --from 24h'],
    options: FILTER,
    async run({ client: { deadLetters }, now }, options: Filter) {
      const filter = readFilter(options, now())
      const { count, blocked } = await sumPages(
        cursor => deadLetters.replayAll({ ...filter, ...cursor }),
        page => page.replayed,
      )
      return { item: { replayed: count, blocked }, text: changedText(count, blocked, 'sent again') }
    },
  })
}

type Blocked = ReplayedDeadLetters['blocked']

async function dismissAll(context: Context, { yes, ...options }: Filter & { readonly yes?: true }): Promise<Printed> {
  const { deadLetters } = context.client
  // A message that is dead-lettered after the question is not dismissed.
  const filter = { to: new Date(context.now()).toISOString(), ...readFilter(options, context.now()) }
  const question = 'They are never sent. Type yes to dismiss all dead letters of the filter: '
  if (!yes && (await context.readInput(question, 'shown')).trim() !== 'yes') {
    throw new CommandFault('failed', 'Nothing was dismissed', 'Type yes, or pass --yes')
  }
  const { count, blocked } = await sumPages(
    cursor => deadLetters.dismissAll({ ...filter, ...cursor }),
    page => page.dismissed,
  )
  return { item: { dismissed: count, blocked }, text: changedText(count, blocked, 'dismissed') }
}

/** Repeats a call until its last page. */
async function sumPages<Page extends { readonly next_cursor: string | null; readonly blocked: Blocked }>(
  read: (cursor: { cursor?: string }) => Promise<Page>,
  countOf: (page: Page) => number,
): Promise<{ readonly count: number; readonly blocked: Blocked }> {
  let page = await read({})
  let [count, blocked] = [countOf(page), [...page.blocked]]
  while (page.next_cursor !== null) {
    page = await read({ cursor: page.next_cursor })
    count += countOf(page)
    blocked = [...blocked, ...page.blocked]
  }
  return { count, blocked }
}

function changedText(count: number, blocked: Blocked, done: string): string {
  const lines = blocked.map(({ dead_letter_id, reason }) => `${dead_letter_id} was not ${done}: ${reason}\n`)
  return `${counted(count, 'dead letter')} ${count === 1 ? 'was' : 'were'} ${done}\n${lines.join('')}`
}

function readFilter({ project, kind, from, to }: Filter, now: number) {
  const times = { from: readIsoTime('--from', from, now), to: readIsoTime('--to', to, now) }
  return given({ project_id: project, kind, ...times })
}

function readWindow({ from, to }: Window, now: number): { from: string; to: string } {
  const iso = (option: string, text: string) => new Date(readTime(option, text, now)).toISOString()
  return { from: iso('--from', from), to: to === undefined ? new Date(now).toISOString() : iso('--to', to) }
}

/** A replay of deliveries or of notifications: both have ids of the same form. */
async function findReplay(client: Client, id: string): Promise<Replay | InboxReplay> {
  return client.replays.get(id).catch((error: unknown) => {
    if (error instanceof ApiProblem && error.status === 404) return client.inboxReplays.get(id)
    throw error
  })
}

function printedReplay(replay: Replay | InboxReplay): Printed {
  const { replay_id, state, total } = replay
  const [done, what] =
    'requeued' in replay ? [replay.requeued, 'deliveries sent'] : [replay.replayed, 'notifications decided']
  const text = `${replay_id}: ${state}, ${done} of ${total ?? 'an unknown number of'} ${what} again\n`
  return { item: replay, text }
}
