import type { Connection, CreatedConnection, SecretRotation } from '@backstop/client'
import type { Command } from 'commander'
import { addCommand, parseOverlapHours } from '../add-command.ts'
import { CommandFault } from '../fault.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, printItem } from '../output/print.ts'
import { readSecret } from '../read-secret.ts'
import type { Surroundings } from '../surroundings.ts'
import { findConnection } from './find-connection.ts'

interface Rotation extends JsonOption {
  readonly generate?: boolean
  readonly overlapHours?: number
}

/** `backstop connections secret`, `backstop connections read-key` */
export function addCredentials(connections: Command, surroundings: Surroundings): void {
  addCommand(
    connections,
    'secret <connection_id>',
    "Store the provider's new signing secret, which is read from standard input, or generate one. The previous one stays valid for the overlap.",
    'backstop connections secret con_0123 < secret.txt',
    'backstop connections secret con_0123 --generate --overlap-hours 2',
  )
    .option('--generate', 'generate the secret of a processor, or the password of a subscription, and print it once')
    .option('--overlap-hours <n>', 'how long the previous secrets are also accepted; 24 by default', parseOverlapHours)
    .action((id: string, options: Rotation) => rotateSecret(id, options, surroundings))
  addCommand(
    connections,
    'read-key <connection_id>',
    "Store a read-only key for the provider's API, which is read from standard input.",
    'backstop connections read-key con_0123 < key.txt',
  ).action(async (id: string, options: JsonOption) => {
    const read_key = await readSecret('The read-only API key: ', surroundings)
    const client = openClient(surroundings)
    const { project_id } = await findConnection(client, id, undefined)
    const connection = await client.connections.change(project_id, id, { read_key })
    printItem(connection, `Stored the read key of ${id}\n`, options, surroundings)
  })
}

async function rotateSecret(id: string, options: Rotation, surroundings: Surroundings): Promise<void> {
  const { generate = false, overlapHours } = options
  const client = openClient(surroundings)
  const { project_id, kind } = await findConnection(client, id, undefined)
  if (kind === 'subscription' && !generate) {
    throw new CommandFault('misused', 'The password of a subscription connection is always generated', 'Add --generate')
  }
  const body: SecretRotation = {
    ...(generate ? {} : ownSecret(kind, await readSecret("The provider's signing secret: ", surroundings))),
    ...(overlapHours === undefined ? {} : { overlap_hours: overlapHours }),
  }
  const connection = await client.connections.rotateSecret(project_id, id, body)
  if (!generate) return printItem(connection, `Stored the secret of ${id}\n`, options, surroundings)
  if (!options.json) surroundings.err(`The secret of ${id} is shown only here:\n`)
  printItem(connection, `${shownSecret(connection)}\n`, options, surroundings)
}

function ownSecret(kind: Connection['kind'], secret: string): SecretRotation {
  return kind === 'reseller' ? { destination_secret: secret } : { signing_secret: secret }
}

function shownSecret({ signing_secret, username, password }: CreatedConnection): string {
  return signing_secret ?? `${username ?? ''}:${password ?? ''}`
}
