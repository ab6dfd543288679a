import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@backstop/client'
import { formatMoney } from '@backstop/contracts'
import { Argument, type Command, Option } from 'commander'
import { addCommand, parseCount } from '../add-command.ts'
import { CommandFault } from '../fault.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, printItem } from '../output/print.ts'
import { chooseProject } from '../projects/choose-project.ts'
import { findApi } from '../running-product.ts'
import type { Surroundings } from '../surroundings.ts'
import { type Made, openAccount } from './account.ts'
import { SCENARIOS, type Scenario, type ScenarioName } from './scenarios.ts'
import { openConnection, openTrialConnection, type SigningConnection } from './trial-connection.ts'

interface TriggerOptions extends JsonOption {
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
  addCommand(
    program,
    'trigger',
    'Make something happen at a simulated provider, and post its signed events to ingress.',
    'backstop trigger storm --count 20',
  )
    .addArgument(new Argument('<scenario>', 'what happens').choices(Object.keys(SCENARIOS)))
    .option('--project <id>', 'the project of the trial connection, if there are several')
    .option('--connection <id>', 'an existing connection, whose secret is in BACKSTOP_SIGNING_SECRET')
    .addOption(
      new Option('--kind <kind>', 'the provider of the trial connection')
        .choices(['processor', 'reseller'])
        .default('processor'),
    )
    .option('--amount <minor_units>', 'the amount of each refund', parseCount, 4_999)
    .option('--count <n>', 'storm: how many refunds', parseCount, 15)
    .option('--after <seconds>', 'late-operation: when the operation is reported', parseCount, 5)
    .addHelpText('after', `\nScenarios:\n${names.join('\n')}`)
    .action((name: ScenarioName, options: TriggerOptions) => trigger(name, options, surroundings))
}

async function trigger(name: ScenarioName, options: TriggerOptions, surroundings: Surroundings): Promise<void> {
  const client = openClient(surroundings)
  const scenario: Scenario = SCENARIOS[name]
  const connection = await connectionFor(client, options, surroundings)
  const account = await openAccount(connection, surroundings)
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
  printItem({ project_id, connection_id, made, events_accepted: accepted }, text, options, surroundings)
}

async function connectionFor(
  client: Client,
  { project, connection, kind }: TriggerOptions,
  surroundings: Surroundings,
): Promise<SigningConnection> {
  const { environment } = surroundings
  if (connection !== undefined) return openConnection(client, connection, environment)
  const projectId = await chooseProject(client, project, surroundings)
  return openTrialConnection(client, findApi(surroundings).url, projectId, kind, environment)
}

function madeLine({ kind, subject, providerRef, amount, currency }: Made): string {
  const money = formatMoney(amount, currency)
  return `${kind}${money === null ? '' : ` of ${money}`} on ${subject}${providerRef === null ? '' : ` (${providerRef})`}\n`
}
