import { formatMoney, kindWords, type ObjectState, showableText } from '@backstop/contracts'
import { type ActionRecord, isProvisional } from '../case/action-record.ts'
import type { IncidentRecord } from '../case/incident-record.ts'

/** What a refund's state says about it, as part of a sentence. */
const REFUND_STATES: Record<ObjectState, string> = {
  succeeded: 'was made at the provider',
  pending: 'was requested at the provider and is pending',
  requires_action: 'was requested at the provider and waits for an action there',
  scheduled: 'is scheduled at the provider',
  failed: 'was attempted at the provider and failed',
  canceled: 'was requested at the provider and canceled',
  rejected: "was requested at the provider and rejected by the provider's review: no money moved",
  reversed: 'was made at the provider and taken back later',
}

const RELEASED = 'was made at the provider: no money moved'

/**
 * The summary of an incident, in one sentence. Ids and texts of providers and people may have invisible characters and direction marks, which
 * are shown by their code points: receivers of the API and of webhooks show the summary as it is.
 * @param waitsFor what the action waits for; undefined if it waits for nothing
 */
export function summaryOf(action: ActionRecord, incident: IncidentRecord, waitsFor?: string): string {
  return showableText(sentenceOf(action, incident, waitsFor))
}

function sentenceOf(action: ActionRecord, incident: IncidentRecord, waitsFor: string | undefined): string {
  const { code, resolution, lifeCycle } = incident
  const money = formatMoney(action.amount, action.currency)
  const what = `A ${kindWords({ kind: action.kind, authorization_released: action.isRelease })}${money === null ? '' : ` of ${money}`} on ${action.subject}`
  if (code === 'REFUND_REJECTED') {
    const explained = action.operationId === null ? '' : `, which operation ${action.operationId} explains,`
    return `${what}${explained} was rejected by the provider's review: no money moved`
  }
  if (code === 'REFUNDED_TWICE') {
    const { operation_id, earlier } = incident.refundedTwice
    const first = `by operation ${earlier.operation_id} (${earlier.provider_ref})`
    const twice = `${what} was made twice, ${first} and again by operation ${operation_id} (${action.providerRef})`
    return resolution === null ? twice : `${twice}: ${lowerFirst(resolution)}`
  }
  if (code === 'CANARY_USED' && resolution === null) {
    return `${what} was made by a canary, an API key or user that is kept only as a trap`
  }
  if (resolution !== null && lifeCycle?.reason != null) return `${what}: ${lowerFirst(resolution)}`
  if (resolution === null) {
    const yet = waitsFor === undefined ? '' : ` yet: ${waitsFor}`
    return `${what} ${outcomeText(action)}, and no operation of yours explains it${yet}`
  }
  if (action.reason === 'provider_denies_it') {
    return `${what} did not go through: ${lowerFirst(resolution)}`
  }
  if (action.verdict === 'explained') return `${what} is explained after all: ${lowerFirst(resolution)}`
  if (action.verdict === 'not_alerted') return `${what} needs no explanation: ${lowerFirst(resolution)}`
  return `The incident about ${lowerFirst(what)} is resolved: ${lowerFirst(resolution)}`
}

function outcomeText(action: ActionRecord): string {
  const { kind, state, readBack, isRelease, subscriptionContinues } = action
  if (readBack === 'not_found' && !isProvisional(action))
    return 'was reported by the provider, which does not know it when it is asked'
  if (kind === 'refund') return isRelease ? RELEASED : REFUND_STATES[state]
  return cancellationText(state, subscriptionContinues)
}

/** @param continues undefined if it is not known whether the subscription continues, as in older cases */
function cancellationText(state: ObjectState, continues: boolean | undefined): string {
  const now =
    continues === undefined ? '' : continues ? ' (the subscription continues)' : ' (another cancellation followed)'
  switch (state) {
    case 'scheduled':
      return 'is scheduled at the provider'
    case 'canceled':
      return `was set at the provider and ${continues === false ? 'did not take effect' : 'taken back'}${now}`
    case 'reversed':
      return `was made at the provider and taken back later${now}`
    default:
      return 'was made at the provider'
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
