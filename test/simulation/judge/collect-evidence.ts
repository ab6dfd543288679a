import type { Broker } from '@backstop/kit/simulated-kafka'
import type { MongoServer } from '@backstop/kit/simulated-mongo'
import type { ApiUser, Json } from '../actors/api-user.ts'
import type { Evidence, ProjectLists, Stored } from './evidence.ts'

const LISTS = ['actions', 'incidents', 'operations', 'inbox', 'deliveries', 'budgets'] as const

/**
 * Reads everything that the judge compares with the truth. The clock must run meanwhile.
 * @param stored everything that the servers hold
 */
export async function collectEvidence(
  api: ApiUser,
  projectIds: readonly string[],
  stored: readonly Stored[],
): Promise<Evidence> {
  const projects: ProjectLists[] = []
  for (const projectId of projectIds) projects.push(await readLists(api, projectId))
  const ndjson = await api.text('/v1/audit/export')
  const { keys } = (await api.get('/v1/audit/public-keys')) as unknown as { keys: { public_key: string }[] }
  return { projects, audit: { ndjson, publicKeys: keys.map(({ public_key }) => public_key) }, stored }
}

/** Everything that the simulated servers hold. */
export function storedIn(mongo: MongoServer, broker: Broker): Stored[] {
  return [...documents(mongo), ...messages(broker)]
}

async function readLists(api: ApiUser, projectId: string): Promise<ProjectLists> {
  const lists: Record<string, Json[]> = {}
  for (const list of LISTS) lists[list] = await readAll(api, `/v1/${list}?project_id=${projectId}&limit=200`)
  const completeness = await api.get(`/v1/completeness?project_id=${projectId}`)
  return { projectId, ...lists, completeness } as unknown as ProjectLists
}

async function readAll(api: ApiUser, path: string): Promise<Json[]> {
  const items: Json[] = []
  let cursor: unknown = null
  do {
    const page = await api.get(cursor === null ? path : `${path}&cursor=${encodeURIComponent(String(cursor))}`)
    items.push(...(page.data as Json[]))
    cursor = page.next_cursor
  } while (cursor !== null)
  return items
}

function* documents(mongo: MongoServer): Iterable<Stored> {
  for (const collection of mongo.collections())
    for (const document of collection.all()) yield { place: collection.name, text: JSON.stringify(document) }
}

function* messages(broker: Broker): Iterable<Stored> {
  for (const topic of broker.log.topics())
    for (const { value } of broker.stored(topic)) yield { place: topic, text: value?.toString('latin1') ?? '' }
}
