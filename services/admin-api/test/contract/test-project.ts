import type { AuditDocument, RoleInProject } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import type { ApiClient } from '../api-client.ts'
import type { TestApi } from '../test-api.ts'

/** Uses of keys and sessions, and refused requests, are stored every five seconds. */
export const STORED_AFTER_MS = 5_000

/** A project with a connection of each kind, created through the API. */
export interface TestProject {
  readonly projectId: string
  readonly processorId: string
  readonly signingSecret: string
}

/** Creates a project. Each test has its own, so that tests do not depend on each other. */
export async function createTestProject(
  api: ApiClient,
  name = 'Shop',
  more: { demo?: boolean } = {},
): Promise<TestProject> {
  const project = await api.post('/v1/projects', { name, ...more })
  const projectId: string = project.body.project_id
  const connection = await api.post(`/v1/projects/${projectId}/connections`, { kind: 'processor', name: 'Cards' })
  return { projectId, processorId: connection.body.connection_id, signingSecret: connection.body.signing_secret }
}

/** Leaves requests under an Idempotency-Key as those whose changes were committed and whose answers were lost. */
export async function loseAnswer({ stores }: TestApi, key: string): Promise<void> {
  const known = await stores.idempotencyKeys.findAll({})
  for (const { _id } of known.filter(({ _id }) => _id.endsWith(`/${key}`)))
    await stores.idempotencyKeys.change({ _id }, { answer: null, locked_until: new Date(0) })
}

/** Creates a key with the given scopes, bound to a project or to none. */
export async function createTestKey(api: ApiClient, scopes: string[], projectId?: string): Promise<string> {
  const { body } = await api.post('/v1/api-keys', {
    name: scopes.join(),
    scopes,
    ...(projectId === undefined ? {} : { project_id: projectId }),
  })
  return body.key
}

/** Returns audit rows as they are stored. */
export async function auditRows(
  { api, stores }: Pick<TestApi, 'api' | 'stores'>,
  where: Parameters<TestApi['stores']['audit']['findAll']>[0],
): Promise<AuditDocument[]> {
  // Rows of operations are in the audit a moment after the answer, and at once if somebody lists it.
  await api.get('/v1/audit?limit=1')
  return stores.audit.findAll(where)
}

/** Returns the audit rows about one resource, oldest first. */
export async function auditOf(testApi: Pick<TestApi, 'api' | 'stores'>, target: string): Promise<AuditDocument[]> {
  const rows = await auditRows(testApi, { target })
  return rows.sort((a, b) => a.at.getTime() - b.at.getTime())
}

/** A person who signed in by a link. The client sends the session's cookie, as a browser does. */
export interface TestPerson {
  readonly personId: string
  readonly sessionId: string
  readonly browser: ApiClient
  readonly cookie: string
}

/** Creates a person with roles, and signs the person in. */
export async function createTestPerson(
  { api }: Pick<TestApi, 'api'>,
  roles: readonly RoleInProject[],
): Promise<TestPerson> {
  const { body } = await api.post('/v1/people', { name: 'Ada', roles })
  const personId: string = body.person_id
  const link = await api.post('/v1/sign-in-links', { person_id: personId })
  return { personId, ...(await signIn(api, { token: link.body.token })) }
}

/** Signs a browser in. */
export async function signIn(api: ApiClient, credential: object): Promise<Omit<TestPerson, 'personId'>> {
  const answer = await api.withKey(undefined).post('/v1/sessions', credential)
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const browser = api.withHeaders({ cookie, 'sec-fetch-site': 'same-origin' })
  return { sessionId: answer.body.session_id, browser, cookie }
}

/** Waits until all rows of the audit joined the chain. @param aheadMs so far ahead that also rows of refusals join */
export async function untilChained(testApi: TestApi, aheadMs = 0): Promise<void> {
  testApi.advanceClock(aheadMs)
  const waiting = aheadMs === 0 ? { unchained: true, count: null } : { unchained: true }
  await until('the rows to join the chain', async () => {
    testApi.advanceClock(2_000)
    return (await testApi.stores.audit.findAll(waiting)).length === 0
  })
}
