import type { Client } from '@backstop/client'
import type { Command } from 'commander'
import { addCommand } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import type { Surroundings } from '../surroundings.ts'
import { explanationOf } from './explanation.ts'

/** `backstop explain` */
export function addExplain(program: Command, surroundings: Surroundings): void {
  addCommand(program, surroundings, {
    usage: 'explain <action_or_incident_id>',
    summary: 'Show why an action has its verdict: the rule, the operations that do not explain it, and the timeline.',
    examples: ['backstop explain act_0123'],
    async run({ client }, _, id) {
      const actionId = await actionIdOf(client, id)
      const asked = await client.actions.get(actionId)
      // An alert may name an action that was later merged into another action.
      const action = asked.merged_into === undefined ? asked : await client.actions.get(asked.merged_into)
      return { item: action, text: explanationOf(action, actionId) }
    },
  })
}

async function actionIdOf(client: Client, id: string): Promise<string> {
  if (id.startsWith('act_')) return id
  if (!id.startsWith('inc_')) {
    const remedy = 'Alerts name it, and backstop incidents list lists incidents'
    throw new CommandFault('misused', `${id} is not the id of an action or incident`, remedy)
  }
  const { action_id } = await client.incidents.get(id)
  if (action_id !== null) return action_id
  throw new CommandFault('misused', `${id} is not about an action`, `backstop incidents show ${id}  shows it`)
}
