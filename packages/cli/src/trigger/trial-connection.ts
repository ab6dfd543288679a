import { randomBytes } from 'node:crypto'
import { ApiProblem, type Client } from '@backstop/client'
import type { Environment } from '@backstop/kit/config'
import { z } from 'zod'
import { findConnection } from '../connections/find-connection.ts'
import { CommandFault } from '../exit-code.ts'
import { configPath, readPrivateFile, writePrivateFile } from '../stored-login.ts'

/** A connection that events can be signed for. */
const SigningConnection = z.object({
  project_id: z.string(),
  connection_id: z.string(),
  kind: z.enum(['processor', 'reseller']),
  inbound_url: z.string(),
  secret: z.string(),
})
export type SigningConnection = z.infer<typeof SigningConnection>

/** Trial connections by the address of the API, project and kind. */
const Stored = z.record(z.string(), SigningConnection)

/** An existing connection. Its secret is not shown by the API, so it comes from BACKSTOP_SIGNING_SECRET. */
export async function openConnection(client: Client, id: string, environment: Environment): Promise<SigningConnection> {
  const secret = environment.BACKSTOP_SIGNING_SECRET
  if (!secret) {
    throw new CommandFault(
      'misused',
      'BACKSTOP_SIGNING_SECRET is not set',
      'Set it to the signing secret of the connection, or leave out --connection to use a trial connection',
    )
  }
  const { project_id, kind, inbound_url } = await findConnection(client, id, undefined)
  if (kind === 'subscription') {
    const why = 'events of subscription billers are not signed, and Backstop reads the account in their place'
    throw new CommandFault('misused', `No events can be made for ${id}: ${why}`)
  }
  return { project_id, connection_id: id, kind, inbound_url, secret }
}

/**
 * A connection of this command in the project. The first call creates it, and stores its secret in a file of this user for later calls.
 */
export async function openTrialConnection(
  client: Client,
  url: string,
  projectId: string,
  kind: SigningConnection['kind'],
  environment: Environment,
): Promise<SigningConnection> {
  const path = configPath(environment, 'trial-connections.json')
  const stored = readPrivateFile(path, Stored) ?? {}
  const name = `${url} ${projectId} ${kind}`
  const known = stored[name]
  if (known !== undefined && (await exists(client, known))) return known
  const created = await createTrialConnection(client, projectId, kind)
  writePrivateFile(path, { ...stored, [name]: created })
  return created
}

async function exists(client: Client, { project_id, connection_id }: SigningConnection): Promise<boolean> {
  try {
    await client.connections.get(project_id, connection_id)
    return true
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return false
    throw error
  }
}

async function createTrialConnection(
  client: Client,
  projectId: string,
  kind: SigningConnection['kind'],
): Promise<SigningConnection> {
  const common = { name: `Trial of backstop trigger (${kind})`, out_of_band: 'alert' } as const
  const chosen = `pdl_ntfset_${randomBytes(24).toString('hex')}`
  const created = await client.connections.create(
    projectId,
    kind === 'processor' ? { ...common, kind } : { ...common, kind, destination_secret: chosen },
  )
  const { project_id, connection_id, inbound_url } = created
  return { project_id, connection_id, kind, inbound_url, secret: created.signing_secret ?? chosen }
}
