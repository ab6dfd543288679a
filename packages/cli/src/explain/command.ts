import { CommandFault } from '../fault.ts'
import { readArguments } from '../read-arguments.ts'
import { findApi } from '../running-product.ts'
import type { Surroundings } from '../surroundings.ts'
import { explanationOf } from './explanation.ts'
import { fetchAction } from './fetch-action.ts'

/** `backstop explain <action_id>` */
export async function explainCommand(args: readonly string[], surroundings: Surroundings): Promise<void> {
  const { values, positionals } = readArguments(args, { json: { type: 'boolean' } })
  const [actionId, ...more] = positionals
  if (actionId === undefined || more.length > 0) {
    throw new CommandFault(
      'misused',
      'Give the id of one action',
      'backstop explain act_…  shows why it has its verdict',
    )
  }
  if (!actionId.startsWith('act_')) {
    const remedy = 'Alerts and incidents have it as action_id, and GET /v1/actions lists actions'
    throw new CommandFault('misused', `${actionId} is not the id of an action, which begins with act_`, remedy)
  }
  const address = findApi(surroundings)
  const asked = await fetchAction(actionId, address)
  // An alert may name an action that was later merged into another action.
  const action = asked.merged_into === undefined ? asked : await fetchAction(asked.merged_into, address)
  if (values.json === true) surroundings.out(`${JSON.stringify(action, undefined, 2)}\n`)
  else surroundings.out(explanationOf(action, actionId))
}
