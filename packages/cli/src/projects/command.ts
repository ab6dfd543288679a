import type { Project } from '@backstop/client'
import type { Command } from 'commander'
import { addCommand, addGroup, withListOptions } from '../add-command.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, type ListOptions, printItem, printList } from '../output/print.ts'
import { factsOf, shownTime } from '../output/table.ts'
import type { Surroundings } from '../surroundings.ts'

/** `backstop projects …` */
export function addProjects(program: Command, surroundings: Surroundings): void {
  const projects = addGroup(program, 'projects', 'List and create projects')
  withListOptions(addCommand(projects, 'list', 'List projects, newest first.', 'backstop projects list')).action(
    (options: ListOptions) =>
      printList(
        openClient(surroundings).projects.list(),
        [
          { title: 'PROJECT', of: ({ project_id }) => project_id },
          { title: 'NAME', of: ({ name }) => name },
          { title: 'CREATED', of: ({ created_at }) => shownTime(created_at) },
        ],
        options,
        surroundings,
      ),
  )
  addCommand(projects, 'create <name>', 'Create a project.', "backstop projects create 'Shop'").action(
    async (name: string, options: JsonOption) => {
      const project = await openClient(surroundings).projects.create({ name })
      printItem(project, factsOfProject(project), options, surroundings)
    },
  )
  addCommand(projects, 'show <project_id>', 'Show a project.', 'backstop projects show prj_0123').action(
    async (id: string, options: JsonOption) => {
      const project = await openClient(surroundings).projects.get(id)
      printItem(project, factsOfProject(project), options, surroundings)
    },
  )
}

function factsOfProject({ project_id, name, created_at, requires_approval }: Project): string {
  return factsOf([
    ['Project', project_id],
    ['Name', name],
    ['Approvals', requires_approval ? 'required' : 'not required'],
    ['Created', shownTime(created_at)],
  ])
}
