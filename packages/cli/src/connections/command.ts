import type { Connection, NewConnection, SecretRotation } from '@backstop/client'
import type { Command } from 'commander'
import {
  addCommand,
  addGroup,
  addList,
  type Context,
  choiceOption,
  given,
  type Printed,
  parseOverlapHours,
  parseRepeatHours,
} from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { factsOf } from '../output/table.ts'
import { chooseProject } from '../projects/choose-project.ts'
import { readSecret } from '../read-input.ts'
import type { Surroundings } from '../surroundings.ts'
import { findConnection } from './find-connection.ts'
import { setupText } from './setup-steps.ts'

interface Creation {
  readonly kind: NewConnection['kind']
  readonly project?: string
  readonly outOfBand?: Connection['out_of_band']
  readonly refundedTwiceWithin?: number
  readonly burstAlarm?: boolean
  readonly site?: string
}

interface Rotation {
  readonly generate?: boolean
  readonly overlapHours?: number
}

/** `backstop connections …` */
export function addConnections(program: Command, surroundings: Surroundings): void {
  const connections = addGroup(program, 'connections', 'List and create connections to billing accounts')
  addCredentials(connections, surroundings)
  addList(connections, surroundings, {
    usage: 'list',
    summary: 'List the connections of a project.',
    examples: ['backstop connections list'],
    options: [['--project <id>', 'the project, if there are several']],
    async *read(context, { project }: { project?: string }) {
      yield* context.client.connections.list(await chooseProject(context, project))
    },
    columns: [
      { title: 'CONNECTION', of: ({ connection_id }) => connection_id },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'STATUS', of: ({ status }) => status },
      { title: 'OUT OF BAND', of: ({ out_of_band }) => out_of_band },
      { title: 'READING', of: ({ reading }) => reading.state },
      { title: 'NAME', of: ({ name }) => name },
    ],
  })
  addCommand(connections, surroundings, {
    usage: 'show <connection_id>',
    summary: 'Show a connection with the steps at the provider that complete it.',
    examples: ['backstop connections show con_0123'],
    options: [['--project <id>', 'the project of the connection; found without it']],
    async run({ client }, { project }: { project?: string }, id) {
      const connection = await findConnection(client, id, project)
      return { item: connection, text: connectionText(connection, setupText(connection)) }
    },
  })
  addCommand(connections, surroundings, {
    usage: 'create <name>',
    summary: 'Connect a billing account. Prints the steps at the provider, and secrets that are shown only once.',
    examples: ["backstop connections create 'Card account' --kind processor --out-of-band alert"],
    options: [
      choiceOption('--kind <kind>', 'the kind of provider', KINDS).makeOptionMandatory(),
      ['--project <id>', 'the project, if there are several'],
      choiceOption('--out-of-band <mode>', 'when to alert', ['auto', 'alert', 'ignore']),
      [
        '--refunded-twice-within <hours>',
        'alert if software refunds the same amount of a payment again within so many hours; off by default',
        parseRepeatHours,
      ],
      ['--no-burst-alarm', 'do not warn of many unexplained actions before their second looks'],
      ['--site <site>', "subscription: the account's site at the provider"],
    ],
    async run(context, creation: Creation, name) {
      const projectId = await chooseProject(context, creation.project)
      const connection = await context.client.connections.create(
        projectId,
        await newConnection(name, creation, surroundings),
      )
      return { item: connection, text: connectionText(connection, setupText(connection, connection)) }
    },
  })
}

const KINDS: readonly NewConnection['kind'][] = ['processor', 'reseller', 'subscription']

/** `backstop connections secret`, `backstop connections read-key` */
function addCredentials(connections: Command, surroundings: Surroundings): void {
  addCommand(connections, surroundings, {
    usage: 'account <connection_id> <account>',
    summary: 'Set when unexplained changes of one connected account of the card processor alert.',
    examples: ['backstop connections account con_0123 acct_1Rf7Kq --out-of-band ignore'],
    options: [
      choiceOption('--out-of-band <mode>', 'when to alert; connection: as the connection is set', [
        'auto',
        'alert',
        'ignore',
        'connection',
      ]).makeOptionMandatory(),
    ],
    async run({ client }, { outOfBand }: { outOfBand: Connection['out_of_band'] | 'connection' }, id, account) {
      const { project_id } = await findConnection(client, id, undefined)
      const out_of_band = outOfBand === 'connection' ? null : outOfBand
      const connection = await client.connections.change(project_id, id, { accounts: [{ account, out_of_band }] })
      return { item: connection, text: `Set out_of_band of ${account} to ${out_of_band ?? connection.out_of_band}\n` }
    },
  })
  addCommand(connections, surroundings, {
    usage: 'secret <connection_id>',
    summary:
      "Store the provider's new signing secret, which is read from standard input, or generate one. The previous one stays valid for the overlap.",
    examples: [
      'backstop connections secret con_0123 < secret.txt',
      'backstop connections secret con_0123 --generate --overlap-hours 2',
    ],
    options: [
      ['--generate', 'generate the secret of a processor, or the password of a subscription, and print it once'],
      ['--overlap-hours <n>', 'how long the previous secrets are also accepted; 24 by default', parseOverlapHours],
    ],
    run: rotateSecret,
  })
  addCommand(connections, surroundings, {
    usage: 'read-key <connection_id>',
    summary: "Store a read-only key for the provider's API, which is read from standard input.",
    examples: ['backstop connections read-key con_0123 < key.txt'],
    async run(context, _, id) {
      const read_key = await readSecret('The read-only API key: ', context)
      const { project_id } = await findConnection(context.client, id, undefined)
      const connection = await context.client.connections.change(project_id, id, { read_key })
      return { item: connection, text: `Stored the read key of ${id}\n` }
    },
  })
}

async function rotateSecret(context: Context, options: Rotation, id: string): Promise<Printed> {
  const { generate = false, overlapHours } = options
  const { client } = context
  const { project_id, kind } = await findConnection(client, id, undefined)
  if (kind === 'subscription' && !generate) {
    throw new CommandFault('misused', 'The password of a subscription connection is always generated', 'Add --generate')
  }
  const own = generate ? {} : ownSecret(kind, await readSecret("The provider's signing secret: ", context))
  const body = { ...own, ...given({ overlap_hours: overlapHours }) }
  const connection = await client.connections.rotateSecret(project_id, id, body)
  if (!generate) return { item: connection, text: `Stored the secret of ${id}\n` }
  const { signing_secret, username = '', password = '' } = connection
  const text = `${signing_secret ?? `${username}:${password}`}\n`
  return { item: connection, text, note: `The secret of ${id} is shown only here:\n` }
}

function ownSecret(kind: Connection['kind'], secret: string): SecretRotation {
  return kind === 'reseller' ? { destination_secret: secret } : { signing_secret: secret }
}

async function newConnection(
  name: string,
  { kind, outOfBand, refundedTwiceWithin, burstAlarm, site }: Creation,
  surroundings: Pick<Surroundings, 'readInput'>,
): Promise<NewConnection> {
  const burst_alarm = burstAlarm === false ? false : undefined
  const common = {
    name,
    ...given({ out_of_band: outOfBand, refunded_twice_within_hours: refundedTwiceWithin, burst_alarm }),
  }
  switch (kind) {
    case 'processor':
      return { ...common, kind }
    case 'subscription':
      return { ...common, kind, ...given({ site }) }
    case 'reseller': {
      const secret = await readSecret("The destination's secret at the provider: ", surroundings)
      return { ...common, kind, destination_secret: secret }
    }
    default:
      return kind satisfies never
  }
}

/** The accounts with a setting of their own that are listed; `--json` has all. */
const SHOWN_ACCOUNTS = 10

function connectionText(connection: Connection, steps: string): string {
  const { connection_id, project_id, name, kind, status, out_of_band, refunded_twice_within_hours } = connection
  const { burst_alarm, reading, warnings, accounts } = connection
  const facts = factsOf([
    ['Connection', connection_id],
    ['Project', project_id],
    ['Name', name],
    ['Kind', kind],
    ['Status', status],
    ['Out of band', out_of_band],
    ...accounts.slice(0, SHOWN_ACCOUNTS).map(({ account, out_of_band }) => [`of ${account}`, out_of_band] as const),
    ...(accounts.length > SHOWN_ACCOUNTS
      ? [['of more accounts', String(accounts.length - SHOWN_ACCOUNTS)] as const]
      : []),
    ['Refunded twice', refunded_twice_within_hours === null ? 'off' : `within ${refunded_twice_within_hours} hours`],
    ['Burst alarm', burst_alarm ? 'on' : 'off'],
    ['Reading', reading.error === null ? reading.state : `${reading.state}: ${reading.error}`],
    ...warnings.map(({ field, message }) => ['Warning', `${field}: ${message}`] as const),
  ])
  return `${facts}\nAt the provider\n${steps}`
}
