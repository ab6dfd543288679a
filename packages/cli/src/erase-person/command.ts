import type { NewPersonErasure, PersonErasure } from '@backstop/client'
import type { Command } from 'commander'
import { addCommand, given, type Printed } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { counted } from '../output/rules/counted.ts'
import { shownTime } from '../output/table.ts'
import { chooseProject } from '../projects/choose-project.ts'
import type { Surroundings } from '../surroundings.ts'

interface Options {
  readonly project?: string
  readonly email?: string
  readonly customer?: string
  readonly provider?: NonNullable<NewPersonErasure['provider']>
  readonly yes?: true
}

/** `backstop erase-person` */
export function addErasePerson(program: Command, surroundings: Surroundings): void {
  addCommand(program, surroundings, {
    usage: 'erase-person [erasure_id]',
    summary: 'Erase the personal data of one customer for ever, or show the progress of an erasure.',
    examples: ['backstop erase-person --email ann@example.com --customer cus_0123', 'backstop erase-person era_0123'],
    options: [
      ['--project <id>', 'the project, if there are several'],
      ['--email <address>', "the customer's e-mail address"],
      ['--customer <id>', "the customer's id at the provider"],
      [
        '--provider <provider>',
        'only at processor, reseller or subscription; without it the id counts at each of them',
      ],
      ['--yes', 'do not ask'],
    ],
    async run(context, { project, email, customer, provider, yes }: Options, erasureId?: string) {
      const names = given({ email, customer_id: customer, provider })
      if ((erasureId === undefined) === (Object.keys(names).length === 0)) {
        throw new CommandFault('misused', 'Give --email, --customer or both, or the id of an erasure')
      }
      const { personErasures } = context.client
      const projectId = await chooseProject(context, project)
      if (erasureId !== undefined) return printed(await personErasures.get(projectId, erasureId))
      const question = `The data of this customer in project ${projectId} cannot be restored. Type yes to erase it: `
      if (!yes && (await context.readInput(question, 'shown')).trim() !== 'yes') {
        throw new CommandFault('failed', 'Nothing was erased', 'Type yes, or pass --yes')
      }
      return printed(await personErasures.create(projectId, names))
    },
  })
}

function printed(erasure: PersonErasure): Printed {
  const { erasure_id, state, erased, finished_at } = erasure
  const { cases, actions, bodies, deliveries } = erased
  const counts = [
    counted(cases, 'case'),
    counted(actions, 'action'),
    `${bodies} raw ${bodies === 1 ? 'body' : 'bodies'}`,
    deliveries === 1 ? '1 delivery' : `${deliveries} deliveries`,
  ]
  const end = finished_at === null ? '' : ` since ${shownTime(finished_at)}`
  return { item: erasure, text: `${erasure_id}: ${state}${end}; erased: ${counts.join(', ')}\n` }
}
