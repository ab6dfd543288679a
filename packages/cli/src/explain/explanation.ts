import { type Action, formatMoney, kindWords, showableText, stateWords } from '@backstop/contracts'
import { shownTime } from '../output/table.ts'

/**
 * The explanation of a verdict, for people to read.
 * @param askedFor the requested action id. It differs from the action's id if that action was merged into this action.
 */
export function explanationOf(action: Action, askedFor: string): string {
  const sections = [
    ...(askedFor === action.action_id ? [] : [[`${askedFor} was merged into ${action.action_id}.`]]),
    descriptionOf(action),
    verdictOf(action),
    differencesOf(action),
    candidatesOf(action),
    timelineOf(action),
  ]
  return `${sections
    .filter(lines => lines.length > 0)
    .map(lines => lines.map(showableText).join('\n'))
    .join('\n\n')}\n`
}

/** Names an action in one line, e.g. `refund of EUR 24.99 on pi_1 (re_1)`. */
export function nameOf(
  action: Pick<Action, 'kind' | 'amount' | 'currency' | 'subject' | 'provider_ref' | 'authorization_released'>,
): string {
  const { amount, currency, subject, provider_ref } = action
  const money = formatMoney(amount, currency)
  const object = provider_ref === null || provider_ref === subject ? '' : ` (${provider_ref})`
  return `${kindWords(action)}${money === null ? '' : ` of ${money}`} on ${subject}${object}`
}

function descriptionOf(action: Action): string[] {
  const { action_id, provider, connection_ids, provider_created_at, first_seen_at, provider_ref, account } = action
  const isProvisional = action.kind === 'refund' && provider_ref === null
  return [
    `${action_id}: ${nameOf(action)}`,
    `  at the ${provider} provider, seen through ${connection_ids.join(', ')}; ${stateWords(action)}`,
    ...(account === undefined ? [] : [`  on the connected account ${account}`]),
    ...(isProvisional ? ['  known only from the total of its charge: no refund of that amount was reported'] : []),
    `  made ${shownTime(provider_created_at)}, first seen ${shownTime(first_seen_at)}`,
  ]
}

function verdictOf(action: Action): string[] {
  const { verdict, reason, why, operation_id, incident_id, second_look_at } = action
  return [
    `Verdict    ${verdict.replaceAll('_', ' ')} (${reason})`,
    `Rule       ${why?.rule ?? 'not recorded: it was judged before rules were recorded'}`,
    ...(operation_id === null ? [] : [`Operation  ${operation_id}`]),
    ...(incident_id === null ? [] : [`Incident   ${incident_id}`]),
    ...(verdict === 'pending' && second_look_at !== null ? [`Next look  ${shownTime(second_look_at)}`] : []),
    `Provider   ${readBackOf(action)}`,
  ]
}

function readBackOf({ verdict, why, second_look_at, account }: Action): string {
  const readBack = why?.read_back ?? null
  switch (readBack) {
    case 'confirmed':
      return 'asked at the second look, and has it'
    case 'not_found':
      return 'asked at the second look, and does not have it'
    case 'unavailable':
      return account === undefined
        ? 'could not be read at the second look: the connection says why (backstop connections show)'
        : 'could not be read at the second look: let the read key read its connected accounts'
    case null:
      if (verdict === 'pending') return 'not asked yet: with a read key it is asked at the second look'
      if (second_look_at === null) return 'not asked: it needed no second look'
      return verdict === 'explained'
        ? 'not asked: it was explained'
        : 'not asked: no connection that shows it had a read key'
    default:
      return readBack satisfies never
  }
}

function differencesOf({ differences = [] }: Action): string[] {
  if (differences.length === 0) return []
  return [
    'The provider contradicts its operation',
    ...differences.map(
      ({ field, operation_says, provider_says }) =>
        `  ${field}: the operation says ${operation_says}, the provider ${provider_says}`,
    ),
  ]
}

function candidatesOf({ why, operation_id, kind }: Action): string[] {
  if (why === undefined || (kind !== 'refund' && kind !== 'cancellation')) return []
  const other = operation_id === null ? '' : 'other '
  if (why.candidates.length === 0) return [`No ${other}operation names this payment or subscription`]
  return [
    `Operations that do not explain it`,
    ...why.candidates.map(({ operation_id, failure, text }) => `  ${operation_id}  ${text} (${failure})`),
  ]
}

function timelineOf({ timeline }: Action): string[] {
  return [
    'Timeline',
    ...timeline.map(
      ({ at, text, id }) => `  ${shownTime(at)}  ${text}${id === null || text.includes(id) ? '' : ` [${id}]`}`,
    ),
  ]
}
