import type { AuditDocument } from '@backstop/contracts'
import type { ApiClient } from '../api-client.ts'
import type { TestApi } from '../test-api.ts'

/** A project with a connection of each kind, created through the API. */
export interface TestProject {
  readonly projectId: string
  readonly processorId: string
  readonly signingSecret: string
}

/** Creates a project. Each test has its own, so that tests do not depend on each other. */
export async function createTestProject(api: ApiClient, name = 'Shop'): Promise<TestProject> {
  const project = await api.post('/v1/projects', { name })
  const projectId: string = project.body.project_id
  const connection = await api.post(`/v1/projects/${projectId}/connections`, { kind: 'processor', name: 'Cards' })
  return { projectId, processorId: connection.body.connection_id, signingSecret: connection.body.signing_secret }
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

/** Returns the audit rows about one resource, oldest first. */
export async function auditOf({ stores }: Pick<TestApi, 'stores'>, target: string): Promise<AuditDocument[]> {
  const rows = await stores.audit.findAll({ target })
  return rows.sort((a, b) => a.at.getTime() - b.at.getTime())
}
