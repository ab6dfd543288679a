import type { Client, Incident, StormOverview } from '@backstop/client'
import { formatMoney } from '@backstop/contracts'
import { type Command, Option } from 'commander'
import { addCommand, addGroup, addList, type Context, choiceOption, given, type Printed } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { shownTime } from '../output/table.ts'
import { chooseListedProject, chooseProject, LISTED_PROJECT } from '../projects/choose-project.ts'
import type { Surroundings } from '../surroundings.ts'
import { changeMany } from './change-many.ts'
import { customerText, incidentText, stormText } from './incident-text.ts'

const REASONS = ['our_own_change', 'fraud_or_leaked_key', 'provider_mistake', 'duplicate', 'other'] as const
const STATES = ['open', 'acknowledged', 'resolved'] as const

interface ListFilter {
  readonly state?: (typeof STATES)[number]
  readonly project?: string
  readonly connection?: string
  readonly account?: string
  readonly customer?: string
  readonly actor?: string
}

/** The options of a change of one incident or of all incidents of a filter. */
interface ChangeOptions {
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
type Changed = Incident | StormOverview

const FILTER = [
  ['--filter <name=value...>', 'in place of an id: connection=, code=, state=, from=, to='],
  ['--project <id>', 'the project of the filter; needed if there are several'],
  ['--dry-run', 'with --filter: only show what would change'],
  ['--yes', 'with --filter: do not ask'],
] as const

/** `backstop incidents …` */
export function addIncidents(program: Command, surroundings: Surroundings): void {
  const incidents = addGroup(program, 'incidents', 'List incidents, and acknowledge, assign or resolve them')
  addListAndShow(incidents, surroundings)
  addCommand(incidents, surroundings, {
    usage: 'ack [incident_id]',
    summary: 'Acknowledge an incident, every incident of a storm, or all incidents of a filter: somebody works on it.',
    examples: [
      'backstop incidents ack inc_0123',
      'backstop incidents ack --filter connection=con_0123 from=24h --dry-run',
    ],
    options: FILTER,
    run: (context, options: ChangeOptions, id) =>
      changeOneOrMany(context, id, options, {
        many: { kind: 'acknowledge' },
        one: (client, incidentId) => client.incidents.acknowledge(incidentId),
      }),
  })
  addCommand(incidents, surroundings, {
    usage: 'assign [incident_id]',
    summary: 'Assign an incident, every incident of a storm, or all incidents of a filter to a person or team.',
    examples: [
      "backstop incidents assign inc_0123 --to 'Payments team'",
      "backstop incidents assign --filter state=open from=24h --to 'Payments team' --dry-run",
    ],
    options: [...FILTER, ['--to <name>', 'the person or team'], ['--nobody', 'remove the assignee']],
    async run(context, { to, nobody, ...options }: Assignment, id) {
      if ((to === undefined) === (nobody === undefined)) throw new CommandFault('misused', 'Give --to, or --nobody')
      const assignee = to ?? null
      return changeOneOrMany(context, id, options, {
        many: { kind: 'assign', assignee },
        one: (client, incidentId) => client.incidents.assign(incidentId, { assignee }),
      })
    },
  })
  addCommand(incidents, surroundings, {
    usage: 'resolve [incident_id]',
    summary: 'Resolve an incident, every incident of a storm, or all incidents of a filter.',
    examples: [
      "backstop incidents resolve inc_0123 --reason our_own_change --note 'Refunded by support'",
      'backstop incidents resolve --filter connection=con_0123 from=24h --reason duplicate --dry-run',
    ],
    options: [
      ...FILTER,
      choiceOption(
        '--reason <reason>',
        'why it happened; our_own_change also explains the action',
        REASONS,
      ).makeOptionMandatory(),
      ['--note <text>', 'shown in the timeline and in alerts'],
      // Scripts of earlier versions give it: the reason our_own_change had not explained the action by itself.
      new Option('--explain').hideHelp(),
    ],
    run(context, { reason, note, ...options }: Resolution, id) {
      const body = { reason, ...given({ note }) }
      return changeOneOrMany(context, id, options, {
        many: { kind: 'resolve', ...body },
        one: (client, incidentId) => client.incidents.resolve(incidentId, body),
      })
    },
  })
  addCommand(incidents, surroundings, {
    usage: 'reopen <incident_id>',
    summary: 'Open a resolved incident again.',
    examples: ['backstop incidents reopen inc_0123'],
    run: async ({ client }, _, id) => printedChange(await client.incidents.reopen(id)),
  })
  addCommand(incidents, surroundings, {
    usage: 'comment <incident_id> <text>',
    summary: 'Comment on an incident.',
    examples: ["backstop incidents comment inc_0123 'Asked the support team'"],
    run: async ({ client }, _, id, text) => printedChange(await client.incidents.comment(id, { text })),
  })
}

function printedChange(changed: Changed): Printed {
  const id = 'incident_id' in changed ? changed.incident_id : changed.storm_id
  return { item: changed, text: `${id} is ${changed.state}\n` }
}

interface OneOrMany {
  one(client: Client, id: string): Promise<Changed>
  readonly many: Parameters<typeof changeMany>[1]
}

/** Changes the incident or storm with this id, or all incidents of the filter. @throws CommandFault */
async function changeOneOrMany(
  context: Context,
  id: string | undefined,
  { filter, ...options }: ChangeOptions,
  { one, many }: OneOrMany,
): Promise<Printed> {
  if (filter === undefined) {
    if (id === undefined || options.dryRun) throw new CommandFault('misused', 'Give an id, or --filter')
    return printedChange(await one(context.client, id))
  }
  if (id !== undefined) throw new CommandFault('misused', 'Give an id or --filter, not both')
  const project = await chooseProject(context, options.project)
  return changeMany(context, many, { ...options, filter, project })
}

function addListAndShow(incidents: Command, surroundings: Surroundings): void {
  addList(incidents, surroundings, {
    usage: 'list',
    summary: 'List incidents, newest first.',
    examples: [
      'backstop incidents list --state open',
      'backstop incidents list --customer cus_0123 --project prj_0123',
    ],
    options: [
      choiceOption('--state <state>', 'only incidents in this state', STATES),
      ['--project <id>', LISTED_PROJECT],
      ['--connection <id>', 'only incidents of this connection'],
      ['--account <id>', 'only incidents of this connected account of the card processor'],
      ['--customer <id>', 'only incidents of this customer, by the id that the provider gives it'],
      ['--actor <id>', 'only incidents about what this actor made'],
    ],
    async *read(context, { state, project, connection, account, customer, actor }: ListFilter) {
      // A connection is of one project, whichever it is. An id of a customer is known in a project only.
      const needsProject = connection === undefined || customer !== undefined
      const project_id = needsProject ? await chooseListedProject(context, project) : project
      const ids = { project_id, connection_id: connection, customer_id: customer, actor_id: actor }
      yield* context.client.incidents.list(given({ state, account, ...ids }))
    },
    columns: [
      { title: 'INCIDENT', of: ({ incident_id }) => incident_id },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'OPENED', of: ({ opened_at }) => shownTime(opened_at) },
      { title: 'AMOUNT', of: ({ action }) => action && formatMoney(action.amount, action.currency) },
      { title: 'CUSTOMER', of: ({ action }) => action && customerText(action) },
      { title: 'ABOUT', of: ({ action, summary }) => (action ? `${action.kind} on ${action.subject}` : summary) },
    ],
  })
  addCommand(incidents, surroundings, {
    usage: 'show <incident_id>',
    summary: 'Show an incident with its timeline and deliveries, or a storm with its incidents counted.',
    examples: ['backstop incidents show inc_0123'],
    async run({ client }, _, id) {
      if (!id.startsWith('stm_')) {
        const incident = await client.incidents.get(id)
        return { item: incident, text: incidentText(incident) }
      }
      const storm = await client.storms.get(id)
      return { item: storm, text: stormText(storm) }
    },
  })
}
