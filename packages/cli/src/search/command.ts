import type { Command } from 'commander'
import { addCommand, withListOptions } from '../add-command.ts'
import { openClient } from '../open-client.ts'
import { type ListOptions, printList } from '../output/print.ts'
import { shownTime } from '../output/table.ts'
import { chooseProject } from '../projects/choose-project.ts'
import type { Surroundings } from '../surroundings.ts'

/** `backstop search` */
export function addSearch(program: Command, surroundings: Surroundings): void {
  withListOptions(
    addCommand(
      program,
      'search <text>',
      'Find actions, incidents, operations and more by an id, a customer, an amount, an idempotency key or a run.',
      'backstop search re_0123',
    ),
  )
    .option('--project <id>', 'the project to search; needed if there are several')
    .action(async (text: string, { project, ...options }: ListOptions & { readonly project?: string }) => {
      const client = openClient(surroundings)
      await printList(
        client.search.search({ project_id: await chooseProject(client, project, surroundings), q: text }),
        [
          { title: 'ID', of: ({ id }) => id },
          { title: 'KIND', of: ({ type }) => type },
          { title: 'AT', of: ({ at }) => (at === null ? null : shownTime(at)) },
          { title: 'TITLE', of: ({ title }) => title },
        ],
        options,
        surroundings,
      )
    })
}
