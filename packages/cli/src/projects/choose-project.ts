import type { Client } from '@backstop/client'
import { CommandFault } from '../fault.ts'

/** The project that is given, or else the only one that the key sees. @throws CommandFault if there are several or none */
export async function chooseProject(client: Client, given: string | undefined): Promise<string> {
  if (given !== undefined) return given
  const { data } = await client.projects.list({ limit: 100 })
  const [first, ...more] = data
  if (first === undefined) {
    throw new CommandFault('not_found', 'There is no project yet', 'backstop projects create <name>  creates one')
  }
  if (more.length === 0) return first.project_id
  const names = data.slice(0, 10).map(({ project_id, name }) => `  ${project_id}  ${name}`)
  throw new CommandFault('misused', 'There are several projects', `Choose one with --project:\n${names.join('\n')}`)
}
