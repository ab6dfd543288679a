import type { AuditDocument } from '@backstop/contracts'
import type { AdminWorld } from '../admin-world.ts'
import type { ApiClient } from '../api-client.ts'

/** A project with a connection of each kind, made through the API. */
export interface OwnProject {
  readonly projectId: string
  readonly processorId: string
  readonly signingSecret: string
}

/** Each test has a project of its own, so that none depends on what another one left. */
export async function openProject(api: ApiClient, name = 'Shop'): Promise<OwnProject> {
  const project = await api.post('/v1/projects', { name })
  const projectId: string = project.body.project_id
  const connection = await api.post(`/v1/projects/${projectId}/connections`, { kind: 'processor', name: 'Cards' })
  return { projectId, processorId: connection.body.connection_id, signingSecret: connection.body.signing_secret }
}

/** A key with the given scopes, bound to a project or to none. */
export async function openKey(api: ApiClient, scopes: string[], projectId?: string): Promise<string> {
  const { body } = await api.post('/v1/api-keys', {
    name: scopes.join(),
    scopes,
    ...(projectId === undefined ? {} : { project_id: projectId }),
  })
  return body.key
}

/** What was done to one thing, oldest first. */
export async function auditOf({ stores }: Pick<AdminWorld, 'stores'>, target: string): Promise<AuditDocument[]> {
  const rows = await stores.audit.findAll({ target })
  return rows.sort((a, b) => a.at.getTime() - b.at.getTime())
}
