import type { ActorPatch, ShownActor } from '@backstop/client'
import { ActorRole, formatMoney } from '@backstop/contracts'
import type { Command } from 'commander'
import { addCommand, addGroup, addList, choiceOption, given } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { shownTime } from '../output/table.ts'
import { chooseProject } from '../projects/choose-project.ts'
import type { Surroundings } from '../surroundings.ts'

interface Naming {
  readonly project?: string
  readonly name?: string
  readonly role?: ShownActor['role']
}

const PROJECT = ['--project <id>', 'the project, if there are several'] as const

/** `backstop actors …` */
export function addActors(program: Command, surroundings: Surroundings): void {
  const actors = addGroup(program, 'actors', 'List and name who made refunds and cancellations')
  addList(actors, surroundings, {
    usage: 'list',
    summary: 'List the API keys, users, hosted pages and providers that acted, the last to act first.',
    examples: ['backstop actors list', 'backstop actors list --role canary'],
    options: [PROJECT, choiceOption('--role <role>', 'only actors with this role', ActorRole.options)],
    async *read(context, { project, role }: Pick<Naming, 'project' | 'role'>) {
      yield* context.client.actors.list(await chooseProject(context, project), given({ role }))
    },
    columns: [
      { title: 'ACTOR', of: ({ actor_id }) => actor_id },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'ROLE', of: ({ role }) => role },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'AT THE PROVIDER', of: ({ label }) => label },
      { title: 'ACTIONS', of: ({ actions }) => String(actions) },
      { title: 'MONEY', of: moneyOf },
      { title: 'FIRST', of: ({ first_at: at }) => at && shownTime(at) },
      { title: 'LAST', of: ({ last_at: at }) => at && shownTime(at) },
    ],
  })
  addCommand<Naming>(actors, surroundings, {
    usage: 'name <actor_id>',
    summary: 'Give an actor a name, and say what it is. Each action of a canary alerts at once.',
    examples: [
      "backstop actors name acr_0123 --name 'Support tool' --role ours",
      'backstop actors name acr_0123 --role canary',
    ],
    options: [
      PROJECT,
      ['--name <name>', 'as people know it; an empty one removes the name'],
      choiceOption('--role <role>', 'what it is', ActorRole.options),
    ],
    async run(context, { project, name, role }, id) {
      if (name === undefined && role === undefined) throw new CommandFault('misused', 'Give --name or --role')
      const patch: ActorPatch = given({ name: name === '' ? null : name, role })
      const actor = await context.client.actors.name(await chooseProject(context, project), id, patch)
      return { item: actor, text: `${id}: ${actor.name ?? actor.label ?? 'no name'}, ${actor.role}\n` }
    },
  })
}

function moneyOf({ totals }: ShownActor): string | null {
  const sums = totals.flatMap(({ amount, currency, mode }) => {
    const money = amount === 0 ? null : formatMoney(amount, currency)
    return money === null ? [] : [mode === 'test' ? `${money} of test money` : money]
  })
  return sums.join(', ') || null
}
