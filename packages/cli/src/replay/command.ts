import {
  ApiProblem,
  type Client,
  type DeadLetter,
  type InboxReplay,
  type Replay,
  type ReplayedDeadLetters,
} from '@backstop/client'
import { type Command, Option } from 'commander'
import { addCommand, addGroup, withListOptions } from '../add-command.ts'
import { CommandFault } from '../fault.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, type ListOptions, printItem, printList } from '../output/print.ts'
import { counted } from '../output/rules/counted.ts'
import { shownTime } from '../output/table.ts'
import { readTime } from '../read-time.ts'
import type { Surroundings } from '../surroundings.ts'

type DeadLetterKind = DeadLetter['kind']

interface Window extends JsonOption {
  readonly from: string
  readonly to?: string
}

const OUTCOMES = ['recorded', 'ignored', 'held', 'hinted', 'parked'] as const

/** `backstop replay …` */
export function addReplay(program: Command, surroundings: Surroundings): void {
  const replay = addGroup(program, 'replay', 'Repeat what failed: deliveries, notifications and dead letters')
  addCommand(
    replay,
    'deliveries <channel_id>',
    'Send the dead deliveries of a channel again.',
    'backstop replay deliveries chn_0123 --from 24h',
  )
    .requiredOption('--from <time>', 'start of the window: 2026-11-21, 2026-11-21T10:00:00Z, or an age such as 24h')
    .option('--to <time>', 'end of the window; now by default')
    .action(async (channelId: string, { from, to, ...options }: Window) => {
      const window = readWindow(from, to, surroundings.now())
      const requested = await openClient(surroundings).replays.create({ channel_id: channelId, ...window })
      printItem(requested, replayText(requested), options, surroundings)
    })
  addCommand(
    replay,
    'notifications <connection_id>',
    'Decide the notifications of a connection again.',
    'backstop replay notifications con_0123 --from 24h',
  )
    .requiredOption('--from <time>', 'start of the window: 2026-11-21, 2026-11-21T10:00:00Z, or an age such as 24h')
    .option('--to <time>', 'end of the window; now by default')
    .addOption(new Option('--outcome <outcome>', 'only notifications with this outcome').choices(OUTCOMES))
    .action(async (id: string, { from, to, outcome, ...options }: Window & { outcome?: InboxReplay['outcome'] }) => {
      const requested = await openClient(surroundings).inboxReplays.create({
        connection_id: id,
        ...readWindow(from, to, surroundings.now()),
        ...(outcome == null ? {} : { outcome }),
      })
      printItem(requested, replayText(requested), options, surroundings)
    })
  addCommand(replay, 'show <replay_id>', 'Show the progress of a replay.', 'backstop replay show rpl_0123').action(
    async (id: string, options: JsonOption) => {
      const found = await findReplay(openClient(surroundings), id)
      printItem(found, replayText(found), options, surroundings)
    },
  )
  withListOptions(
    withFilter(
      addCommand(
        replay,
        'dead-letters',
        'List everything that could not be used: notifications, deliveries and messages.',
        'backstop replay dead-letters --kind notification',
      ),
    ),
  ).action((options: ListOptions & Filter) =>
    printList(
      openClient(surroundings).deadLetters.list(readFilter(options, surroundings)),
      [
        { title: 'DEAD LETTER', of: ({ dead_letter_id }) => dead_letter_id },
        { title: 'KIND', of: ({ kind }) => kind },
        { title: 'AT', of: ({ parked_at }) => shownTime(parked_at) },
        { title: 'REASON', of: ({ reason }) => reason },
        { title: 'CANNOT BE REPLAYED', of: ({ repair_blocked_by }) => repair_blocked_by ?? '' },
      ],
      options,
      surroundings,
    ),
  )
  addCommand(
    replay,
    'dead-letter <dead_letter_id>',
    'Send a dead letter again.',
    'backstop replay dead-letter dlt_0123',
  ).action(async (id: string, options: JsonOption) => {
    const sent = await openClient(surroundings).deadLetters.replay(id)
    printItem(sent, `${sent.dead_letter_id} was sent to ${sent.topic}\n`, options, surroundings)
  })
  addCommand(
    replay,
    'dismiss <dead_letter_id>',
    'Remove a message that nothing can use from the dead letters, without sending it.',
    'backstop replay dismiss dlt_0123',
  ).action(async (id: string, options: JsonOption) => {
    const dismissed = await openClient(surroundings).deadLetters.dismiss(id)
    printItem(dismissed, `${dismissed.dead_letter_id} is dismissed: ${dismissed.reason}\n`, options, surroundings)
  })
  withFilter(
    addCommand(
      replay,
      'dismiss-all',
      'Remove all messages of a filter that nothing can use from the dead letters, without sending them.',
      'backstop replay dismiss-all --kind command --from 24h',
    ),
  )
    .option('--yes', 'do not ask')
    .action((options: JsonOption & Filter & { readonly yes?: true }) => dismissAll(options, surroundings))
  withFilter(
    addCommand(
      replay,
      'all-dead-letters',
      'Send all dead letters of a filter again.',
      'backstop replay all-dead-letters --kind notification --from 24h',
    ),
  ).action(async (options: JsonOption & Filter) => {
    const { deadLetters } = openClient(surroundings)
    const filter = readFilter(options, surroundings)
    const total = { replayed: 0, blocked: [] as Blocked }
    for await (const page of pagesOf(cursor => deadLetters.replayAll({ ...filter, ...cursor }))) {
      total.replayed += page.replayed
      total.blocked.push(...page.blocked)
    }
    printItem(total, changedText(total.replayed, total.blocked, 'sent again'), options, surroundings)
  })
}

type Blocked = ReplayedDeadLetters['blocked']

async function dismissAll(
  { yes, ...options }: JsonOption & Filter & { readonly yes?: true },
  surroundings: Surroundings,
): Promise<void> {
  const { deadLetters } = openClient(surroundings)
  // A message that is dead-lettered after the question is not dismissed.
  const filter = { to: new Date(surroundings.now()).toISOString(), ...readFilter(options, surroundings) }
  const question = 'They are never sent. Type yes to dismiss all dead letters of the filter: '
  if (!yes && (await surroundings.readInput(question, 'shown')).trim() !== 'yes') {
    throw new CommandFault('failed', 'Nothing was dismissed', 'Type yes, or pass --yes')
  }
  const total = { dismissed: 0, blocked: [] as Blocked }
  for await (const page of pagesOf(cursor => deadLetters.dismissAll({ ...filter, ...cursor }))) {
    total.dismissed += page.dismissed
    total.blocked.push(...page.blocked)
  }
  printItem(total, changedText(total.dismissed, total.blocked, 'dismissed'), options, surroundings)
}

async function* pagesOf<P extends { readonly next_cursor: string | null }>(
  read: (cursor: { cursor?: string }) => Promise<P>,
): AsyncGenerator<P> {
  let page = await read({})
  yield page
  while (page.next_cursor !== null) {
    page = await read({ cursor: page.next_cursor })
    yield page
  }
}

function changedText(count: number, blocked: Blocked, done: string): string {
  const lines = blocked.map(({ dead_letter_id, reason }) => `${dead_letter_id} was not ${done}: ${reason}\n`)
  return `${counted(count, 'dead letter')} ${count === 1 ? 'was' : 'were'} ${done}\n${lines.join('')}`
}

interface Filter {
  readonly project?: string
  readonly kind?: DeadLetterKind
  readonly from?: string
  readonly to?: string
}

function withFilter(command: Command): Command {
  return command
    .option('--project <project_id>', 'only this project')
    .option('--kind <kind>', 'only this kind: notification, delivery, operation, …')
    .option('--from <time>', 'only dead letters since: 2026-11-21, 2026-11-21T10:00:00Z, or an age such as 24h')
    .option('--to <time>', 'only dead letters before this time')
}

function readFilter({ project, kind, from, to }: Filter, surroundings: Surroundings) {
  const now = surroundings.now()
  return {
    ...(project === undefined ? {} : { project_id: project }),
    ...(kind === undefined ? {} : { kind }),
    ...(from === undefined ? {} : { from: new Date(readTime('--from', from, now)).toISOString() }),
    ...(to === undefined ? {} : { to: new Date(readTime('--to', to, now)).toISOString() }),
  }
}

function readWindow(from: string, to: string | undefined, now: number): { from: string; to: string } {
  const iso = (name: string, text: string) => new Date(readTime(name, text, now)).toISOString()
  return { from: iso('--from', from), to: to === undefined ? new Date(now).toISOString() : iso('--to', to) }
}

/** A replay of deliveries or of notifications: both have ids of the same form. */
async function findReplay(client: Client, id: string): Promise<Replay | InboxReplay> {
  return client.replays.get(id).catch((error: unknown) => {
    if (error instanceof ApiProblem && error.status === 404) return client.inboxReplays.get(id)
    throw error
  })
}

function replayText(replay: Replay | InboxReplay): string {
  const { replay_id, state, total } = replay
  const [done, what] =
    'requeued' in replay ? [replay.requeued, 'deliveries sent'] : [replay.replayed, 'notifications decided']
  return `${replay_id}: ${state}, ${done} of ${total ?? 'an unknown number of'} ${what} again\n`
}
