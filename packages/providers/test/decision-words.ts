/** Describes sightings in the words of the decision tables. */
import type { EndCause, Normalised, ObservedAction, ObservedSubscription, Sighting } from '../src/sighting.ts'

const STATES: Readonly<Record<string, string>> = { requires_action: 'needs action' }
const stateWord = (state: string) => STATES[state] ?? state
const dayOf = (ms: number | null) => (ms === null ? 'some day' : new Date(ms).toISOString().slice(0, 10))

/** Describes a meaning. @param before the last known state of the subscription; null if there is none */
export function wordsOf(meaning: Normalised, before: ObservedSubscription | null): string {
  switch (meaning.kind) {
    case 'ignored':
    case 'malformed':
    case 'hint':
      return meaning.kind
    case 'observed':
      return meaning.sightings.map(sighting => wordsOfSighting(sighting, before)).join('; ')
    default:
      return meaning satisfies never
  }
}

function wordsOfSighting(sighting: Sighting, before: ObservedSubscription | null): string {
  switch (sighting.kind) {
    case 'action':
      return `${[refundWord(sighting), ...sighting.gatewayRefs].join(' ')}, ${stateWord(sighting.state)}`
    case 'record':
      return `${sighting.record}, ${stateWord(sighting.state)}`
    case 'refund_total': {
      const { total, totalBefore, currency, uncaptured = 0 } = sighting
      if (sighting.isReleasedAuthorization) return `released authorization of ${total} ${currency}`
      const now = totalBefore === null ? '' : `, ${total - totalBefore} of it now`
      const rest = uncaptured === 0 ? '' : `, up to ${uncaptured} never captured`
      return `total refunded ${total} ${currency}${now}${rest}`
    }
    case 'subscription': {
      const changes = [endWords(before, sighting), pauseWords(before, sighting)].filter(text => text !== null)
      if (changes.length > 0) return changes.join('; ')
      const runs = sighting.cancellation.phase === 'none' && sighting.pause.phase === 'none'
      return runs ? 'nothing' : 'nothing new'
    }
    default:
      return sighting satisfies never
  }
}

function refundWord({ isExpiredAuthorization, isReleasedAuthorization }: ObservedAction): string {
  if (isExpiredAuthorization) return 'expired authorization'
  return isReleasedAuthorization ? 'released authorization' : 'refund'
}

const ENDS: Record<Exclude<EndCause, 'requested'>, (detail: string | null) => string> = {
  involuntary: detail => `involuntary end (${detail})`,
  plan_end: () => 'end of the plan',
  no_payment_method: () => 'end without a payment method',
  payment_disputed: () => 'end after a dispute',
  retention_policy: () => 'end by the retention policy',
  never_began: () => 'never began',
  not_billable: detail => `end because it cannot be billed (${detail})`,
}

function endWords(before: ObservedSubscription | null, { cancellation: now }: ObservedSubscription): string | null {
  const was = before?.cancellation.phase ?? 'none'
  const isOther = isAnotherRequest(before, now)
  if (was === now.phase && !isOther) return null
  switch (now.phase) {
    case 'none':
      return was === 'scheduled' ? 'schedule removed' : 'runs again'
    case 'scheduled':
      return `${isOther ? 'another ' : ''}cancellation, set for ${dayOf(now.effectiveAt)}`
    case 'executed':
      if (was === 'scheduled' && !isOther) return 'the set cancellation, carried out'
      if (was === 'scheduled' && now.cause === 'requested') return 'another cancellation'
      if (now.cause !== 'requested') return ENDS[now.cause](now.detail)
      if (before?.isPastDue === true) return 'involuntary end (dunning)'
      return now.detail === null || now.detail === 'cancellation_requested'
        ? 'cancellation'
        : `cancellation (${now.detail})`
    default:
      return now.phase satisfies never
  }
}

/**
 * True if another request moved the end to an earlier time. In the product, subscription-row.ts of the reconciler decides this.
 */
function isAnotherRequest(before: ObservedSubscription | null, now: ObservedSubscription['cancellation']): boolean {
  const was = before?.cancellation
  if (was?.phase !== 'scheduled' || was.effectiveAt === null || now.effectiveAt === null) return false
  const keepsTime = was.requestedAt !== null && was.requestedAt === now.requestedAt
  const isSame = keepsTime && !(before?.provider === 'subscription' && now.phase === 'executed')
  return !isSame && was.effectiveAt - now.effectiveAt >= 3_600_000
}

function pauseWords(before: ObservedSubscription | null, sighting: ObservedSubscription): string | null {
  const { pause: now, cancellation } = sighting
  const was = before?.pause.phase ?? 'none'
  if (was === now.phase || (now.phase === 'none' && cancellation.phase === 'executed')) return null
  switch (now.phase) {
    case 'none':
      return was === 'scheduled' ? 'schedule removed' : 'resume'
    case 'scheduled':
      return `pause, set for ${dayOf(now.effectiveAt)}`
    case 'paused':
      return 'pause'
    default:
      return now.phase satisfies never
  }
}
