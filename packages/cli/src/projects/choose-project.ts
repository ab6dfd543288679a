import { ApiProblem } from '@backstop/client'
import type { Context } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { findStartedProject } from '../find-backstop.ts'

type Chooser = Pick<Context, 'client' | 'environment' | 'folder' | 'err'>

/** The value of --project for the items of every project. */
const ALL = 'all'

/** The help text of `--project` of a list. */
export const LISTED_PROJECT = `only those of this project; by default the project of npm start, or all; \`${ALL}\` for all`

/**
 * The project that is given, or else that of the running `npm start`, or else the only one that the key sees.
 * @throws CommandFault if there are several or none
 */
export async function chooseProject(chooser: Chooser, given: string | undefined): Promise<string> {
  if (given !== undefined) return given
  const { data } = await chooser.client.projects.list({ limit: 100 })
  const [first, ...more] = data
  if (first === undefined) {
    throw new CommandFault('not_found', 'There is no project yet', 'backstop projects create <name>  creates one')
  }
  if (more.length === 0) return first.project_id
  const started = await startedProject(chooser)
  if (started !== undefined) return started
  const names = data.slice(0, 10).map(({ project_id, name }) => `  ${project_id}  ${name}`)
  throw new CommandFault('misused', 'There are several projects', `Choose one with --project:\n${names.join('\n')}`)
}

/** The project whose items are listed: the one that is given, or else that of the running `npm start`. @returns undefined for all projects */
export async function chooseListedProject(chooser: Chooser, given: string | undefined): Promise<string | undefined> {
  return given === ALL ? undefined : (given ?? (await startedProject(chooser)))
}

/** The project of the running `npm start`, unless it was removed. Its name is reported, because nobody has chosen it. */
async function startedProject(chooser: Chooser): Promise<string | undefined> {
  const id = findStartedProject(chooser)
  if (id === undefined) return undefined
  try {
    const { name } = await chooser.client.projects.get(id)
    chooser.err(`Project "${name}" (${id}), the demo of npm start; --project chooses another\n`)
    return id
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined
    throw error
  }
}
