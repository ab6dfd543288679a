import type { Person } from '@backstop/client'
import type { Command } from 'commander'
import { addGroup, addList, given } from '../define-command.ts'
import { shownTime } from '../output/table.ts'
import type { Surroundings } from '../surroundings.ts'

/** `backstop people …` */
export function addPeople(program: Command, surroundings: Surroundings): void {
  addList(addGroup(program, 'people', 'List the people who sign in'), surroundings, {
    usage: 'list',
    summary: 'List people with their roles, newest first.',
    examples: ['backstop people list --project prj_0123'],
    options: [['--project <id>', 'only people with a role in this project']],
    read: ({ client }, { project }: { project?: string }) => client.people.list(given({ project_id: project })),
    columns: [
      { title: 'PERSON', of: ({ person_id }) => person_id },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'E-MAIL', of: ({ email }) => email },
      { title: 'ROLES', of: rolesText },
      { title: 'STATE', of: ({ disabled }) => (disabled ? 'disabled' : 'enabled') },
      { title: 'SIGNED IN', of: ({ last_sign_in_at: at }) => at && shownTime(at) },
    ],
  })
}

function rolesText({ roles }: Person): string | null {
  return roles.map(({ role, project_id }) => `${role} of ${project_id ?? 'all'}`).join(', ') || null
}
