import type { Command } from 'commander'
import { addList } from '../define-command.ts'
import { shownTime } from '../output/table.ts'
import { chooseProject } from '../projects/choose-project.ts'
import type { Surroundings } from '../surroundings.ts'

/** `backstop search` */
export function addSearch(program: Command, surroundings: Surroundings): void {
  addList(program, surroundings, {
    usage: 'search <text>',
    summary:
      'Find actions, incidents, operations and more by an id, a customer, an amount, an idempotency key or a run.',
    examples: ['backstop search re_0123'],
    options: [['--project <id>', 'the project to search; needed if there are several']],
    async *read(context, { project }: { project?: string }, text) {
      yield* context.client.search.search({ project_id: await chooseProject(context, project), q: text })
    },
    columns: [
      { title: 'ID', of: ({ id }) => id },
      { title: 'KIND', of: ({ type }) => type },
      { title: 'AT', of: ({ at }) => at && shownTime(at) },
      { title: 'TITLE', of: ({ title }) => title },
    ],
  })
}
