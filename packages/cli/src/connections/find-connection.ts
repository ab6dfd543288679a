import { ApiProblem, type Client, type Connection } from '@backstop/client'
import { CommandFault } from '../exit-code.ts'

/** Finds a connection in the given project, or else in every project that the key sees. @throws CommandFault `not_found` */
export async function findConnection(client: Client, id: string, projectId: string | undefined): Promise<Connection> {
  if (projectId !== undefined) return client.connections.get(projectId, id)
  for await (const { project_id } of client.projects.list({ limit: 100 })) {
    const connection = await client.connections.get(project_id, id).catch(error => {
      if (error instanceof ApiProblem && error.status === 404) return undefined
      throw error
    })
    if (connection !== undefined) return connection
  }
  throw new CommandFault(
    'not_found',
    `There is no connection ${id}`,
    'A key that is bound to a project sees only that project',
  )
}
