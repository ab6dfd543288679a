import type { Connection, NewConnection } from '@backstop/client'
import { type Command, Option } from 'commander'
import { addCommand, addGroup, withListOptions } from '../add-command.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, type ListOptions, printItem, printList } from '../output/print.ts'
import { factsOf } from '../output/table.ts'
import { chooseProject } from '../projects/choose-project.ts'
import { readSecret } from '../read-secret.ts'
import type { Surroundings } from '../surroundings.ts'
import { addCredentials } from './credentials.ts'
import { findConnection } from './find-connection.ts'
import { setupText } from './setup-steps.ts'

interface Creation extends JsonOption {
  readonly kind: NewConnection['kind']
  readonly project?: string
  readonly outOfBand?: Connection['out_of_band']
  readonly site?: string
}

/** `backstop connections …` */
export function addConnections(program: Command, surroundings: Surroundings): void {
  const connections = addGroup(program, 'connections', 'List and create connections to billing accounts')
  addCredentials(connections, surroundings)
  withListOptions(addCommand(connections, 'list', 'List the connections of a project.', 'backstop connections list'))
    .option('--project <id>', 'the project, if there are several')
    .action(async ({ project, ...options }: ListOptions & { project?: string }) => {
      const client = openClient(surroundings)
      await printList(
        client.connections.list(await chooseProject(client, project, surroundings)),
        [
          { title: 'CONNECTION', of: ({ connection_id }) => connection_id },
          { title: 'KIND', of: ({ kind }) => kind },
          { title: 'STATUS', of: ({ status }) => status },
          { title: 'OUT OF BAND', of: ({ out_of_band }) => out_of_band },
          { title: 'READING', of: ({ reading }) => reading.state },
          { title: 'NAME', of: ({ name }) => name },
        ],
        options,
        surroundings,
      )
    })
  addCommand(
    connections,
    'show <connection_id>',
    'Show a connection with the steps at the provider that complete it.',
    'backstop connections show con_0123',
  )
    .option('--project <id>', 'the project of the connection; found without it')
    .action(async (id: string, { project, ...options }: JsonOption & { project?: string }) => {
      const connection = await findConnection(openClient(surroundings), id, project)
      printItem(connection, connectionText(connection, setupText(connection)), options, surroundings)
    })
  addCommand(
    connections,
    'create <name>',
    'Connect a billing account. Prints the steps at the provider, and secrets that are shown only once.',
    "backstop connections create 'Card account' --kind processor --out-of-band alert",
  )
    .addOption(
      new Option('--kind <kind>', 'the kind of provider')
        .choices(['processor', 'reseller', 'subscription'])
        .makeOptionMandatory(),
    )
    .option('--project <id>', 'the project, if there are several')
    .addOption(new Option('--out-of-band <mode>', 'when to alert').choices(['auto', 'alert', 'ignore']))
    .option('--site <site>', "subscription: the account's site at the provider")
    .action(async (name: string, { project, ...creation }: Creation) => {
      const client = openClient(surroundings)
      const projectId = await chooseProject(client, project, surroundings)
      const connection = await client.connections.create(projectId, await newConnection(name, creation, surroundings))
      printItem(connection, connectionText(connection, setupText(connection, connection)), creation, surroundings)
    })
}

async function newConnection(
  name: string,
  { kind, outOfBand, site }: Creation,
  surroundings: Pick<Surroundings, 'readInput'>,
): Promise<NewConnection> {
  const common = { name, ...(outOfBand === undefined ? {} : { out_of_band: outOfBand }) }
  switch (kind) {
    case 'processor':
      return { ...common, kind }
    case 'subscription':
      return { ...common, kind, ...(site === undefined ? {} : { site }) }
    case 'reseller': {
      const secret = await readSecret("The destination's secret at the provider: ", surroundings)
      return { ...common, kind, destination_secret: secret }
    }
    default:
      return kind satisfies never
  }
}

function connectionText(connection: Connection, steps: string): string {
  const { connection_id, project_id, name, kind, status, out_of_band, reading, warnings } = connection
  const facts = factsOf([
    ['Connection', connection_id],
    ['Project', project_id],
    ['Name', name],
    ['Kind', kind],
    ['Status', status],
    ['Out of band', out_of_band],
    ['Reading', reading.error === null ? reading.state : `${reading.state}: ${reading.error}`],
    ...warnings.map(({ field, message }) => ['Warning', `${field}: ${message}`] as const),
  ])
  return `${facts}\nAt the provider\n${steps}`
}
