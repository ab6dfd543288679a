import { setTimeout as pause } from 'node:timers/promises'
import { formatMoney } from '@backstop/contracts'
import { Argument, type Command } from 'commander'
import { addCommand, type Context, choiceOption, type Printed, parseCount } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { findApi } from '../find-backstop.ts'
import { chooseProject } from '../projects/choose-project.ts'
import type { Surroundings } from '../surroundings.ts'
import { type Made, openAccount } from './account.ts'
import { SCENARIOS, type Scenario, type ScenarioName } from './scenarios.ts'
import { openConnection, openTrialConnection, type SigningConnection } from './trial-connection.ts'

interface TriggerOptions {
  readonly project?: string
  readonly connection?: string
  readonly kind: SigningConnection['kind']
  readonly amount: number
  readonly count: number
  readonly after: number
}

/** `backstop trigger` */
export function addTrigger(program: Command, surroundings: Surroundings): void {
  const names = Object.entries(SCENARIOS).map(([name, { about }]) => `  ${name.padEnd(17)} ${about}`)
  addCommand(program, surroundings, {
    usage: 'trigger',
    summary: 'Make something happen at a simulated provider, and post its signed events to ingress.',
    examples: ['backstop trigger storm --count 20'],
    options: [
      ['--project <id>', 'the project of the trial connection, if there are several'],
      ['--connection <id>', 'an existing connection, whose secret is in BACKSTOP_SIGNING_SECRET'],
      choiceOption('--kind <kind>', 'the provider of the trial connection', ['processor', 'reseller']).default(
        'processor',
      ),
      ['--amount <minor_units>', 'the amount of each refund', parseCount, 4_999],
      ['--count <n>', 'storm: how many refunds', parseCount, 15],
      ['--after <seconds>', 'late-operation: when the operation is reported', parseCount, 5],
    ],
    run: trigger,
  })
    .addArgument(new Argument('<scenario>', 'what happens').choices(Object.keys(SCENARIOS)))
    .addHelpText('after', `\nScenarios:\n${names.join('\n')}`)
}

async function trigger(context: Context, options: TriggerOptions, name: string): Promise<Printed> {
  const { client } = context
  const scenario: Scenario = SCENARIOS[name as ScenarioName]
  const connection = await connectionFor(context, options)
  const account = await openAccount(connection, context)
  const made = await scenario.run({
    account,
    amount: options.amount,
    count: options.count,
    report: async operation => {
      await client.operations.create({ ...operation, connection_id: connection.connection_id })
    },
    waitForLateness: () => pause(options.after * 1_000),
  })
  const { accepted, refused } = await account.posted()
  const isRefusalWanted = name === 'wrong-signature'
  if (refused !== undefined && !isRefusalWanted) {
    throw new CommandFault('failed', `${connection.inbound_url} did not accept an event: ${refused}`)
  }
  if (isRefusalWanted && accepted > 0)
    throw new CommandFault('failed', 'Ingress accepted an event with a wrong signature')
  const { project_id, connection_id } = connection
  const text =
    `${made.map(madeLine).join('')}` +
    `${accepted} events accepted for ${connection_id} of ${project_id}${refused === undefined ? '' : `; refused: ${refused}`}\n` +
    `Expect ${scenario.expect}.\n`
  return { item: { project_id, connection_id, made, events_accepted: accepted }, text }
}

async function connectionFor(context: Context, options: TriggerOptions): Promise<SigningConnection> {
  const { client, environment } = context
  if (options.connection !== undefined) return openConnection(client, options.connection, environment)
  const projectId = await chooseProject(context, options.project)
  return openTrialConnection(client, findApi(context).url, projectId, options.kind, environment)
}

function madeLine({ kind, subject, providerRef, amount, currency }: Made): string {
  const money = formatMoney(amount, currency)
  return `${kind}${money === null ? '' : ` of ${money}`} on ${subject}${providerRef === null ? '' : ` (${providerRef})`}\n`
}
