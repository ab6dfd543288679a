import type { Client, Incident } from '@backstop/client'
import { formatMoney } from '@backstop/contracts'
import { type Command, Option } from 'commander'
import { addCommand, addGroup, withListOptions } from '../add-command.ts'
import { CommandFault } from '../fault.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, type ListOptions, printItem, printList } from '../output/print.ts'
import { shownTime } from '../output/table.ts'
import { chooseListedProject, chooseProject, LISTED_PROJECT } from '../projects/choose-project.ts'
import type { Surroundings } from '../surroundings.ts'
import { changeMany } from './change-many.ts'
import { customerText, incidentText, stormText } from './incident-text.ts'

const REASONS = ['our_own_change', 'fraud_or_leaked_key', 'provider_mistake', 'duplicate', 'other'] as const
const STATES = ['open', 'acknowledged', 'resolved'] as const

interface ListFilter extends ListOptions {
  readonly state?: (typeof STATES)[number]
  readonly project?: string
  readonly connection?: string
}

/** The options of a change of one incident or of all incidents of a filter. */
interface ChangeOptions extends JsonOption {
  readonly filter?: readonly string[]
  readonly project?: string
  readonly dryRun?: true
  readonly yes?: true
}

interface Resolution extends ChangeOptions {
  readonly reason: (typeof REASONS)[number]
  readonly note?: string
}

interface Assignment extends ChangeOptions {
  readonly to?: string
  readonly nobody?: true
}

/** The answer to a change: an incident, or a storm if its id was given. */
type Changed = Incident | Awaited<ReturnType<Client['incidents']['reopen']>>

/** `backstop incidents …` */
export function addIncidents(program: Command, surroundings: Surroundings): void {
  const incidents = addGroup(program, 'incidents', 'List incidents, and acknowledge, assign or resolve them')
  addListAndShow(incidents, surroundings)

  const change = async (options: JsonOption, request: (client: Client) => Promise<Changed>) => {
    const changed = await request(openClient(surroundings))
    const id = 'incident_id' in changed ? changed.incident_id : changed.storm_id
    printItem(changed, `${id} is ${changed.state}\n`, options, surroundings)
  }
  addAcknowledge(incidents, surroundings, change)
  addAssign(incidents, surroundings, change)
  addResolve(incidents, surroundings, change)
  const addChange = (usage: string, summary: string, example: string) => addCommand(incidents, usage, summary, example)
  addChange('reopen <incident_id>', 'Open a resolved incident again.', 'backstop incidents reopen inc_0123').action(
    (id: string, options: JsonOption) => change(options, client => client.incidents.reopen(id)),
  )
  addChange(
    'comment <incident_id> <text>',
    'Comment on an incident.',
    "backstop incidents comment inc_0123 'Asked the support team'",
  ).action((id: string, text: string, options: JsonOption) =>
    change(options, client => client.incidents.comment(id, { text })),
  )
}

type ChangeOne = (options: JsonOption, request: (client: Client) => Promise<Changed>) => Promise<void>

function addAcknowledge(incidents: Command, surroundings: Surroundings, change: ChangeOne): void {
  withFilter(
    addCommand(
      incidents,
      'ack [incident_id]',
      'Acknowledge an incident, every incident of a storm, or all incidents of a filter: somebody works on it.',
      'backstop incidents ack inc_0123',
      'backstop incidents ack --filter connection=con_0123 from=24h --dry-run',
    ),
  ).action((id: string | undefined, options: ChangeOptions) =>
    changeOneOrMany(id, options, surroundings, {
      many: { kind: 'acknowledge' },
      one: incidentId => change(options, client => client.incidents.acknowledge(incidentId)),
    }),
  )
}

function addAssign(incidents: Command, surroundings: Surroundings, change: ChangeOne): void {
  withFilter(
    addCommand(
      incidents,
      'assign [incident_id]',
      'Assign an incident, every incident of a storm, or all incidents of a filter to a person or team.',
      "backstop incidents assign inc_0123 --to 'Payments team'",
      "backstop incidents assign --filter state=open from=24h --to 'Payments team' --dry-run",
    ),
  )
    .option('--to <name>', 'the person or team')
    .option('--nobody', 'remove the assignee')
    .action((id: string | undefined, { to, nobody, ...options }: Assignment) => {
      if ((to === undefined) === (nobody === undefined)) throw new CommandFault('misused', 'Give --to, or --nobody')
      const assignee = to ?? null
      return changeOneOrMany(id, options, surroundings, {
        many: { kind: 'assign', assignee },
        one: incidentId => change(options, client => client.incidents.assign(incidentId, { assignee })),
      })
    })
}

function addResolve(incidents: Command, surroundings: Surroundings, change: ChangeOne): void {
  withFilter(
    addCommand(
      incidents,
      'resolve [incident_id]',
      'Resolve an incident, every incident of a storm, or all incidents of a filter.',
      "backstop incidents resolve inc_0123 --reason our_own_change --note 'Refunded by support'",
      'backstop incidents resolve --filter connection=con_0123 from=24h --reason duplicate --dry-run',
    ),
  )
    .addOption(
      new Option('--reason <reason>', 'why it happened; our_own_change also explains the action')
        .choices(REASONS)
        .makeOptionMandatory(),
    )
    .option('--note <text>', 'shown in the timeline and in alerts')
    // Scripts of earlier versions give it: the reason our_own_change had not explained the action by itself.
    .addOption(new Option('--explain').hideHelp())
    .action((id: string | undefined, { reason, note, ...options }: Resolution) => {
      const body = { reason, ...(note === undefined ? {} : { note }) }
      return changeOneOrMany(id, options, surroundings, {
        many: { kind: 'resolve', ...body },
        one: incidentId => change(options, client => client.incidents.resolve(incidentId, body)),
      })
    })
}

function withFilter(command: Command): Command {
  return command
    .option('--filter <name=value...>', 'in place of an id: connection=, code=, state=, from=, to=')
    .option('--project <id>', 'the project of the filter; needed if there are several')
    .option('--dry-run', 'with --filter: only show what would change')
    .option('--yes', 'with --filter: do not ask')
}

/** Changes the incident or storm with this id, or all incidents of the filter. @throws CommandFault */
async function changeOneOrMany(
  id: string | undefined,
  { filter, ...options }: ChangeOptions,
  surroundings: Surroundings,
  { one, many }: { one(id: string): Promise<void>; readonly many: Parameters<typeof changeMany>[1] },
): Promise<void> {
  if (filter === undefined) {
    if (id === undefined || options.dryRun) throw new CommandFault('misused', 'Give an id, or --filter')
    return one(id)
  }
  if (id !== undefined) throw new CommandFault('misused', 'Give an id or --filter, not both')
  const client = openClient(surroundings)
  const project = await chooseProject(client, options.project, surroundings)
  return changeMany(client, many, { ...options, filter, project }, surroundings)
}

function addListAndShow(incidents: Command, surroundings: Surroundings): void {
  withListOptions(
    addCommand(incidents, 'list', 'List incidents, newest first.', 'backstop incidents list --state open'),
  )
    .addOption(new Option('--state <state>', 'only incidents in this state').choices(STATES))
    .option('--project <id>', LISTED_PROJECT)
    .option('--connection <id>', 'only incidents of this connection')
    .action(async ({ state, project, connection, ...options }: ListFilter) => {
      const client = openClient(surroundings)
      // A connection is of one project, whichever it is.
      const projectId = connection === undefined ? await chooseListedProject(client, project, surroundings) : project
      await printList(
        client.incidents.list({
          ...(state === undefined ? {} : { state }),
          ...(projectId === undefined ? {} : { project_id: projectId }),
          ...(connection === undefined ? {} : { connection_id: connection }),
        }),
        [
          { title: 'INCIDENT', of: ({ incident_id }) => incident_id },
          { title: 'STATE', of: ({ state }) => state },
          { title: 'OPENED', of: ({ opened_at }) => shownTime(opened_at) },
          { title: 'AMOUNT', of: ({ action }) => action && formatMoney(action.amount, action.currency) },
          { title: 'CUSTOMER', of: ({ action }) => action && customerText(action) },
          { title: 'ABOUT', of: ({ action, summary }) => (action ? `${action.kind} on ${action.subject}` : summary) },
        ],
        options,
        surroundings,
      )
    })
  addCommand(
    incidents,
    'show <incident_id>',
    'Show an incident with its timeline and deliveries, or a storm with its incidents counted.',
    'backstop incidents show inc_0123',
  ).action(async (id: string, options: JsonOption) => {
    if (id.startsWith('stm_')) {
      const storm = await openClient(surroundings).storms.get(id)
      return printItem(storm, stormText(storm), options, surroundings)
    }
    const incident = await openClient(surroundings).incidents.get(id)
    printItem(incident, incidentText(incident), options, surroundings)
  })
}
