import {
  type Action,
  type Alert,
  HIDDEN,
  hideEmailAddresses,
  type Incident,
  isPersonalDetail,
  type OriginChannel,
  type Storm,
  type StormCommonFacts,
} from '@backstop/contracts'

/**
 * The alert without personal data (personal-data.ts of the contracts). Name, e-mail address and user are null. Other
 * values are replaced by `HIDDEN`, so that the text says that something is not shown. Returns the same alert if it has no
 * such data, because most deliveries of a flood go through here.
 */
export function withoutPersonalData(alert: Alert): Alert {
  return withoutDataOf('everybody', alert)
}

/**
 * The alert without personal data of its customer. Who of the team made the action stays, so that an erasure hides no thief: the user, the key
 * and the actor, unless the channel is a hosted page, where the user is the customer. Returns the same alert if it has no such data.
 */
export function withoutCustomer(alert: Alert): Alert {
  return withoutDataOf('customer', alert)
}

/** Whose data is removed. */
type Whose = 'everybody' | 'customer'

function withoutDataOf(whose: Whose, alert: Alert): Alert {
  switch (alert.event) {
    case 'incident.opened':
    case 'incident.acknowledged':
    case 'incident.resolved':
    case 'drift.detected': {
      const { action } = alert.data
      const incident = 'incident' in alert.data ? { incident: incidentWithoutPeople(whose, alert.data.incident) } : {}
      const data = hideAddressesIn(
        whose,
        { ...alert.data, ...incident, action: action === null ? null : withoutPeople(whose, action) },
        alert.data,
      )
      // TypeScript does not see that `data` keeps the type of its event.
      return data === alert.data ? alert : ({ ...alert, data } as Alert)
    }
    case 'storm.reported': {
      const data = hideAddressesIn(
        whose,
        { ...alert.data, storm: stormWithoutPeople(whose, alert.data.storm) },
        alert.data,
      )
      return data === alert.data ? alert : { ...alert, data }
    }
    case 'approval.requested':
    case 'approval.reminder':
    case 'approval.expired':
    case 'cap.threshold':
    case 'run.failed':
    case 'channel.test':
      return alert
    default:
      return alert satisfies never
  }
}

/** An action without personal data, for example for an archive. Returns the same action if it has no such data. */
export function actionWithoutPersonalData<T extends Action>(action: T): T {
  return hideIn('everybody', withoutPeople('everybody', action)) as T
}

/** What was erased meanwhile. */
export interface Erased {
  /** Ids of deleted connections: all personal data of their alerts is erased. */
  readonly connections: ReadonlySet<string>
  /** Ids of actions whose customer was erased. */
  readonly actions: ReadonlySet<string>
}

/** The alert without what was erased; the same alert if that is nothing. */
export function withoutErased(alert: Alert, { connections, actions }: Erased): Alert {
  if (connections.size > 0 && connectionsOf(alert).some(id => connections.has(id))) return withoutPersonalData(alert)
  return actionIdsOf([alert]).some(id => actions.has(id)) ? withoutCustomer(alert) : alert
}

/** The ids of the actions that these alerts are about, each once. */
export function actionIdsOf(alerts: readonly Alert[]): string[] {
  return [...new Set(alerts.flatMap(({ data }) => ('action' in data ? (data.action?.action_id ?? []) : [])))]
}

/** The connections of the action, burst or storm of the alert. */
function connectionsOf({ data }: Alert): readonly string[] {
  if ('incident' in data && data.incident.burst !== undefined) return [data.incident.connection_id ?? '']
  if ('action' in data) return data.action?.connection_ids ?? []
  return 'storm' in data ? [data.storm.connection_id] : []
}

function withoutPeople(whose: Whose, action: Action): Action {
  const { actor_name, ...named } = action
  const { provider, customer, origin, payment, links } = action
  // The name of a user is one of a person. Other actors are programs, whose names the team chose for everybody.
  const kept = whose === 'everybody' && origin?.channel === 'dashboard' && actor_name !== undefined ? named : action
  const hasUser = origin?.user != null && !keepsTeam(whose, origin.channel)
  const hasCustomer = customer != null && (customer.name !== null || customer.email !== null)
  const hasReason = isHiddenReason(provider, payment?.refund_reason)
  const hasLink = links?.provider != null && hideEmailAddresses(links.provider) !== links.provider
  if (!hasCustomer && !hasUser && !hasReason && !hasLink) return kept
  return {
    ...kept,
    ...(hasCustomer ? { customer: { ...customer, name: null, email: null } } : {}),
    ...(hasUser ? { origin: { ...origin, user: null } } : {}),
    ...(payment !== undefined && hasReason ? { payment: { ...payment, refund_reason: HIDDEN } } : {}),
    ...(hasLink ? { links: { ...links, provider: null } } : {}),
  }
}

function keepsTeam(whose: Whose, channel: OriginChannel | null | undefined): boolean {
  return whose === 'customer' && channel !== 'hosted_page'
}

function isHiddenReason(provider: Action['provider'], reason: string | null | undefined): boolean {
  return reason != null && reason !== HIDDEN && isPersonalDetail(provider, 'payment.refund_reason', reason)
}

function stormWithoutPeople(whose: Whose, storm: Storm): Storm {
  const { provider, links } = storm
  const common = commonWithoutPeople(whose, provider, storm.common)
  const hasLink = links.provider !== null && hideEmailAddresses(links.provider) !== links.provider
  if (common === storm.common && !hasLink) return storm
  return { ...storm, links: hasLink ? { ...links, provider: null } : links, common }
}

function incidentWithoutPeople(whose: Whose, incident: Incident): Incident {
  const { burst } = incident
  if (burst?.common === undefined) return incident
  const common = commonWithoutPeople(whose, burst.provider, burst.common)
  return common === burst.common ? incident : { ...incident, burst: { ...burst, common } }
}

function commonWithoutPeople(whose: Whose, provider: Storm['provider'], common: StormCommonFacts): StormCommonFacts {
  const { customer, user, actor, refund_reason } = common
  const hasCustomer = customer !== null && (customer.value.name !== null || customer.value.email !== null)
  const hasReason = isHiddenReason(provider, refund_reason?.value)
  const hasPerson = whose === 'everybody' && actor?.kind === 'dashboard_user' && actor.name !== undefined
  const hasUser = user !== null && !keepsTeam(whose, common.channel?.value)
  if (!hasCustomer && !hasUser && !hasReason && !hasPerson) return common
  return {
    ...common,
    customer: customer === null ? null : { ...customer, value: { ...customer.value, name: null, email: null } },
    user: hasUser ? null : user,
    ...(hasPerson ? { actor: { value: actor.value, kind: actor.kind, count: actor.count } } : {}),
    refund_reason: hasReason && refund_reason !== null ? { ...refund_reason, value: HIDDEN } : refund_reason,
  }
}

/** The fields that name who of the team made an action. */
const OF_TEAM: ReadonlySet<string> = new Set(['user', 'key_name', 'actor', 'actor_name'])
const NO_FIELDS: ReadonlySet<string> = new Set()

/**
 * Hides e-mail addresses in all texts of an alert, except in the names that the team gave its project and connection.
 * @returns `before` if nothing differs from it
 */
function hideAddressesIn<T extends object>(whose: Whose, data: T, before: T): T {
  const entries = Object.entries(data).map(
    ([name, value]) => [name, name === 'names' ? value : hideIn(whose, value)] as const,
  )
  const isSame = entries.every(([name, value]) => value === before[name as keyof T])
  return isSame ? before : (Object.fromEntries(entries) as T)
}

/** Returns the same value if it contains no e-mail address. */
function hideIn(whose: Whose, value: unknown): unknown {
  if (typeof value === 'string') return hideEmailAddresses(value)
  if (Array.isArray(value)) {
    const hidden = value.map(item => hideIn(whose, item))
    return hidden.every((item, index) => item === value[index]) ? value : hidden
  }
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Record<string, unknown>
  const kept = whose === 'everybody' || isHostedPage(fields) ? NO_FIELDS : OF_TEAM
  let changed: Record<string, unknown> | undefined
  for (const name in fields) {
    const hidden = kept.has(name) ? fields[name] : hideIn(whose, fields[name])
    if (hidden === fields[name]) continue
    changed ??= { ...fields }
    changed[name] = hidden
  }
  return changed ?? value
}

/** True for an origin on a hosted page, and for what actions on hosted pages have in common. */
function isHostedPage({ channel }: Record<string, unknown>): boolean {
  const shared = typeof channel === 'object' && channel !== null && 'value' in channel ? channel.value : channel
  return shared === 'hosted_page'
}
