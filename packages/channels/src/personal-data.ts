import {
  type Action,
  type Alert,
  HIDDEN,
  hideEmailAddresses,
  type Incident,
  isPersonalDetail,
  type Storm,
  type StormCommonFacts,
} from '@backstop/contracts'

/**
 * The alert without personal data (personal-data.ts of the contracts). Name, e-mail address and user are null. Other
 * values are replaced by `HIDDEN`, so that the text says that something is not shown. Returns the same alert if it has no
 * such data, because most deliveries of a flood go through here.
 */
export function withoutPersonalData(alert: Alert): Alert {
  switch (alert.event) {
    case 'incident.opened':
    case 'incident.acknowledged':
    case 'incident.resolved':
    case 'drift.detected': {
      const { action } = alert.data
      const incident = 'incident' in alert.data ? { incident: incidentWithoutPeople(alert.data.incident) } : {}
      const data = hideAddressesIn(
        { ...alert.data, ...incident, action: action === null ? null : withoutPeople(action) },
        alert.data,
      )
      // TypeScript does not see that `data` keeps the type of its event.
      return data === alert.data ? alert : ({ ...alert, data } as Alert)
    }
    case 'storm.reported': {
      const data = hideAddressesIn({ ...alert.data, storm: stormWithoutPeople(alert.data.storm) }, alert.data)
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

/**
 * The alert without personal data if it is about one of these actions, or its action or storm belongs to one of these connections; otherwise
 * the same alert.
 * @param erasedIds actions whose customer was erased, and deleted connections: personal data of their customers is erased
 */
export function withoutPersonalDataOf(alert: Alert, erasedIds: ReadonlySet<string>): Alert {
  if (erasedIds.size === 0) return alert
  const isErased =
    actionIdsOf(alert).some(id => erasedIds.has(id)) || connectionsOf(alert).some(id => erasedIds.has(id))
  return isErased ? withoutPersonalData(alert) : alert
}

function actionIdsOf({ data }: Alert): readonly string[] {
  return 'action' in data && data.action !== null ? [data.action.action_id] : []
}

/** The connections of the action, burst or storm of the alert. */
function connectionsOf({ data }: Alert): readonly string[] {
  if ('incident' in data && data.incident.burst !== undefined) return [data.incident.connection_id ?? '']
  if ('action' in data) return data.action?.connection_ids ?? []
  return 'storm' in data ? [data.storm.connection_id] : []
}

function withoutPeople(action: Action): Action {
  const { actor_name, ...named } = action
  const { provider, customer, origin, payment, links } = action
  // The name of a user is one of a person. Other actors are programs, whose names the team chose for everybody.
  const kept = origin?.channel === 'dashboard' && actor_name !== undefined ? named : action
  const hasCustomer = customer != null && (customer.name !== null || customer.email !== null)
  const hasReason = isHiddenReason(provider, payment?.refund_reason)
  const hasLink = links?.provider != null && hideEmailAddresses(links.provider) !== links.provider
  if (!hasCustomer && origin?.user == null && !hasReason && !hasLink) return kept
  return {
    ...kept,
    ...(hasCustomer ? { customer: { ...customer, name: null, email: null } } : {}),
    ...(origin == null ? {} : { origin: { ...origin, user: null } }),
    ...(payment !== undefined && hasReason ? { payment: { ...payment, refund_reason: HIDDEN } } : {}),
    ...(hasLink ? { links: { ...links, provider: null } } : {}),
  }
}

function isHiddenReason(provider: Action['provider'], reason: string | null | undefined): boolean {
  return reason != null && reason !== HIDDEN && isPersonalDetail(provider, 'payment.refund_reason', reason)
}

function stormWithoutPeople(storm: Storm): Storm {
  const { provider, links } = storm
  const common = commonWithoutPeople(provider, storm.common)
  const hasLink = links.provider !== null && hideEmailAddresses(links.provider) !== links.provider
  if (common === storm.common && !hasLink) return storm
  return { ...storm, links: hasLink ? { ...links, provider: null } : links, common }
}

function incidentWithoutPeople(incident: Incident): Incident {
  const { burst } = incident
  if (burst?.common === undefined) return incident
  const common = commonWithoutPeople(burst.provider, burst.common)
  return common === burst.common ? incident : { ...incident, burst: { ...burst, common } }
}

function commonWithoutPeople(provider: Storm['provider'], common: StormCommonFacts): StormCommonFacts {
  const { customer, user, actor, refund_reason } = common
  const hasCustomer = customer !== null && (customer.value.name !== null || customer.value.email !== null)
  const hasReason = isHiddenReason(provider, refund_reason?.value)
  const hasPerson = actor?.kind === 'dashboard_user' && actor.name !== undefined
  if (!hasCustomer && user === null && !hasReason && !hasPerson) return common
  return {
    ...common,
    customer: customer === null ? null : { ...customer, value: { ...customer.value, name: null, email: null } },
    user: null,
    ...(hasPerson ? { actor: { value: actor.value, kind: actor.kind, count: actor.count } } : {}),
    refund_reason: hasReason && refund_reason !== null ? { ...refund_reason, value: HIDDEN } : refund_reason,
  }
}

/**
 * Hides e-mail addresses in all texts of an alert, except in the names that the team gave its project and connection.
 * @returns `before` if nothing differs from it
 */
function hideAddressesIn<T extends object>(data: T, before: T): T {
  const entries = Object.entries(data).map(([name, value]) => [name, name === 'names' ? value : hideIn(value)] as const)
  const isSame = entries.every(([name, value]) => value === before[name as keyof T])
  return isSame ? before : (Object.fromEntries(entries) as T)
}

/** Returns the same value if it contains no e-mail address. */
function hideIn(value: unknown): unknown {
  if (typeof value === 'string') return hideEmailAddresses(value)
  if (Array.isArray(value)) {
    const hidden = value.map(hideIn)
    return hidden.every((item, index) => item === value[index]) ? value : hidden
  }
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Record<string, unknown>
  let changed: Record<string, unknown> | undefined
  for (const name in fields) {
    const hidden = hideIn(fields[name])
    if (hidden === fields[name]) continue
    changed ??= { ...fields }
    changed[name] = hidden
  }
  return changed ?? value
}
