import { CommandFault } from '../fault.ts'
import { readArguments } from '../read-arguments.ts'
import { findApi } from '../running-product.ts'
import type { Surroundings } from '../surroundings.ts'
import { askForAction } from './ask-api.ts'
import { explanationOf } from './explanation.ts'

/** `backstop explain <action_id>` */
export async function explainCommand(args: readonly string[], surroundings: Surroundings): Promise<void> {
  const { values, positionals } = readArguments(args, { json: { type: 'boolean' } })
  const [actionId, ...more] = positionals
  if (actionId === undefined || more.length > 0) {
    throw new CommandFault(
      'misused',
      'Give the id of one action',
      'backstop explain act_…  asks why it has its verdict',
    )
  }
  if (!actionId.startsWith('act_')) {
    const remedy = 'Alerts and incidents name theirs as action_id, and GET /v1/actions lists them'
    throw new CommandFault('misused', `${actionId} is no id of an action: those begin with act_`, remedy)
  }
  const address = findApi(surroundings)
  const asked = await askForAction(actionId, address)
  // An alert may name what turned out to be another one.
  const action = asked.merged_into === undefined ? asked : await askForAction(asked.merged_into, address)
  if (values.json === true) surroundings.out(`${JSON.stringify(action, undefined, 2)}\n`)
  else surroundings.out(explanationOf(action, actionId))
}
