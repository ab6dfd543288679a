import type { Client, Connection } from '@backstop/client'
import type { ApiFacts, ConnectionFacts } from './rules/judge-api.ts'

/** Dead letters that are counted; more are stated as "or more". */
const COUNTED = 100

/** Older dead letters are no news, and the messages among them are no longer kept. */
const DEAD_LETTERS_MS = 30 * 86_400_000

/** Reads the facts that the management API has. @throws ApiProblem NoAnswer */
export async function readApiFacts(client: Client, now: number): Promise<ApiFacts> {
  const connections: ConnectionFacts[] = []
  for await (const { project_id } of client.projects.list({ limit: 100 })) {
    for await (const connection of client.connections.list(project_id, { limit: 100 })) {
      if (connection.status === 'active') connections.push(await factsOfConnection(client, connection))
    }
  }
  const channels: ApiFacts['channels'][number][] = []
  for await (const channel of client.alertChannels.list({ limit: 100 })) channels.push(channel)
  const deadLetters = await client.deadLetters.list({
    limit: COUNTED,
    from: new Date(now - DEAD_LETTERS_MS).toISOString(),
  })
  const { keys } = await client.secretKeys.get()
  const { processes } = await client.processes.get()
  return {
    connections,
    channels,
    deadLetters: { kinds: deadLetters.data.map(({ kind }) => kind), more: deadLetters.next_cursor !== null },
    secretKeys: keys,
    processes,
  }
}

async function factsOfConnection(client: Client, connection: Connection): Promise<ConnectionFacts> {
  const { data } = await client.inbox.list({ connection_id: connection.connection_id, limit: 1 })
  return { ...connection, lastWebhookAt: data[0]?.received_at ?? null }
}
