import type { Client } from '@backstop/client'
import type { Command } from 'commander'
import { addCommand } from '../add-command.ts'
import { CommandFault } from '../fault.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, printItem } from '../output/print.ts'
import type { Surroundings } from '../surroundings.ts'
import { explanationOf } from './explanation.ts'

/** `backstop explain` */
export function addExplain(program: Command, surroundings: Surroundings): void {
  addCommand(
    program,
    'explain <action_or_incident_id>',
    'Show why an action has its verdict: the rule, the operations that do not explain it, and the timeline.',
    'backstop explain act_0123',
  ).action(async (id: string, options: JsonOption) => {
    const client = openClient(surroundings)
    const actionId = await actionIdOf(client, id)
    const asked = await client.actions.get(actionId)
    // An alert may name an action that was later merged into another action.
    const action = asked.merged_into === undefined ? asked : await client.actions.get(asked.merged_into)
    printItem(action, explanationOf(action, actionId), options, surroundings)
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
