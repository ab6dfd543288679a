import type { Project } from '@backstop/client'
import type { Command } from 'commander'
import { addCommand, addGroup, addList, type Printed } from '../define-command.ts'
import { factsOf, shownTime } from '../output/table.ts'
import type { Surroundings } from '../surroundings.ts'

/** `backstop projects …` */
export function addProjects(program: Command, surroundings: Surroundings): void {
  const projects = addGroup(program, 'projects', 'List and create projects')
  addList(projects, surroundings, {
    usage: 'list',
    summary: 'List projects, newest first.',
    examples: ['backstop projects list'],
    read: ({ client }) => client.projects.list(),
    columns: [
      { title: 'PROJECT', of: ({ project_id }) => project_id },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'CREATED', of: ({ created_at }) => shownTime(created_at) },
    ],
  })
  addCommand(projects, surroundings, {
    usage: 'create <name>',
    summary: 'Create a project.',
    examples: ["backstop projects create 'Shop'"],
    run: async ({ client }, _, name) => printedProject(await client.projects.create({ name })),
  })
  addCommand(projects, surroundings, {
    usage: 'show <project_id>',
    summary: 'Show a project.',
    examples: ['backstop projects show prj_0123'],
    run: async ({ client }, _, id) => printedProject(await client.projects.get(id)),
  })
}

function printedProject(project: Project): Printed {
  const { project_id, name, created_at, requires_approval } = project
  const text = factsOf([
    ['Project', project_id],
    ['Name', name],
    ['Approvals', requires_approval ? 'required' : 'not required'],
    ['Created', shownTime(created_at)],
  ])
  return { item: project, text }
}
