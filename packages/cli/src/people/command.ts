import type { Command } from 'commander'
import { addCommand, addGroup, withListOptions } from '../add-command.ts'
import { openClient } from '../open-client.ts'
import { type ListOptions, printList } from '../output/print.ts'
import { shownTime } from '../output/table.ts'
import type { Surroundings } from '../surroundings.ts'

/** `backstop people …` */
export function addPeople(program: Command, surroundings: Surroundings): void {
  const people = addGroup(program, 'people', 'List the people who sign in')
  withListOptions(
    addCommand(
      people,
      'list',
      'List people with their roles, newest first.',
      'backstop people list --project prj_0123',
    ),
  )
    .option('--project <id>', 'only people with a role in this project')
    .action(({ project, ...options }: ListOptions & { readonly project?: string }) =>
      printList(
        openClient(surroundings).people.list(project === undefined ? {} : { project_id: project }),
        [
          { title: 'PERSON', of: ({ person_id }) => person_id },
          { title: 'NAME', of: ({ name }) => name },
          { title: 'E-MAIL', of: ({ email }) => email },
          {
            title: 'ROLES',
            of: ({ roles }) =>
              roles.map(({ role, project_id }) => `${role} of ${project_id ?? 'all'}`).join(', ') || null,
          },
          { title: 'STATE', of: ({ disabled }) => (disabled ? 'disabled' : 'enabled') },
          { title: 'SIGNED IN', of: ({ last_sign_in_at: at }) => (at === null ? null : shownTime(at)) },
        ],
        options,
        surroundings,
      ),
    )
}
