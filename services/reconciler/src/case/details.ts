import type { Action } from '@backstop/contracts'
import type { SightingDetails } from '@backstop/providers'

/**
 * The details that help a person to act: who made an action, whose payment it is, and where to look at it. No verdict
 * depends on them.
 */

/** Reads each fact of a sighting. A fact is one value that a provider may state or leave out. */
const FACTS = {
  'origin.channel': ({ origin }: SightingDetails) => origin?.channel,
  'origin.key_name': ({ origin }: SightingDetails) => origin?.key_name,
  'origin.user': ({ origin }: SightingDetails) => origin?.user,
  'origin.request_id': ({ origin }: SightingDetails) => origin?.request_id,
  'origin.idempotency_key': ({ origin }: SightingDetails) => origin?.idempotency_key,
  'customer.id': ({ customer }: SightingDetails) => customer?.id,
  'customer.name': ({ customer }: SightingDetails) => customer?.name,
  'customer.email': ({ customer }: SightingDetails) => customer?.email,
  'payment.number': ({ payment }: SightingDetails) => payment?.number,
  'payment.plan': ({ payment }: SightingDetails) => payment?.plan,
  'payment.refund_reason': ({ payment }: SightingDetails) => payment?.refund_reason,
  'payment.destination': ({ payment }: SightingDetails) => payment?.destination,
  mode: ({ mode }: SightingDetails) => mode,
  dashboardUrl: ({ dashboardUrl }: SightingDetails) => dashboardUrl,
} as const

export type FactName = keyof typeof FACTS

const FACT_NAMES = Object.keys(FACTS) as readonly FactName[]

/** A value, and the version of the object that stated it. */
type Fact = readonly [value: string, version: number]

/** The known facts of one object. Unknown facts are left out. */
export type KnownDetails = Readonly<Partial<Record<FactName, Fact>>>

/** The facts that belong to one change of a subscription, and not to the subscription. */
const OF_CHANGE: ReadonlySet<FactName> = new Set(FACT_NAMES.filter(isOriginFact)).add('payment.refund_reason')

/** Facts that identify a person. */
const PERSONAL: ReadonlySet<FactName> = new Set<FactName>(['customer.name', 'customer.email', 'origin.user'])

function isOriginFact(name: FactName): boolean {
  return name.startsWith('origin.')
}

/**
 * The facts of a sighting.
 * @param version orders the states of the object, e.g. the provider's version or the time of the state
 */
export function knownDetails(details: SightingDetails | undefined, version: number): KnownDetails | undefined {
  if (details === undefined) return undefined
  const facts: Partial<Record<FactName, Fact>> = {}
  for (const name of FACT_NAMES) {
    const value = FACTS[name](details)
    if (value != null) facts[name] = [value, version]
  }
  return unlessEmpty(facts)
}

/**
 * Merges the facts of two sightings of one object. The result does not depend on the order or the number of sightings:
 * the origin is the earliest that was stated, and every other fact is the newest. Of two values of one version, the
 * greater text is kept. Returns the same object if it knows all facts already.
 */
export function mergeDetails(a: KnownDetails | undefined, b: KnownDetails | undefined): KnownDetails | undefined {
  if (a === undefined || b === undefined) return a ?? b
  let merged: Partial<Record<FactName, Fact>> | undefined
  for (const name of Object.keys(b) as FactName[]) {
    const [known, seen] = [a[name], b[name] as Fact]
    if (known !== undefined && !replaces(name, seen, known)) continue
    merged ??= { ...a }
    merged[name] = seen
  }
  return merged ?? a
}

function replaces(name: FactName, [value, version]: Fact, [knownValue, knownVersion]: Fact): boolean {
  if (version === knownVersion) return value > knownValue
  return isOriginFact(name) ? version < knownVersion : version > knownVersion
}

/** Adds the facts that are not known yet. */
export function addMissingDetails(
  known: KnownDetails | undefined,
  more: KnownDetails | undefined,
): KnownDetails | undefined {
  if (known === undefined || more === undefined) return known ?? more
  return { ...more, ...known }
}

/** The facts of one change of a subscription: who made it, and why. */
export function detailsOfChange(details: KnownDetails | undefined): KnownDetails | undefined {
  return selectDetails(details, name => OF_CHANGE.has(name))
}

/** The facts that are the same for all changes of a subscription, e.g. its customer. */
export function detailsOfObject(details: KnownDetails | undefined): KnownDetails | undefined {
  return selectDetails(details, name => !OF_CHANGE.has(name))
}

export function originDetails(details: KnownDetails | undefined): KnownDetails | undefined {
  return selectDetails(details, isOriginFact)
}

export function withoutOrigin(details: KnownDetails | undefined): KnownDetails | undefined {
  return selectDetails(details, name => !isOriginFact(name))
}

export function hasPersonalData(details: KnownDetails | undefined): boolean {
  if (details === undefined) return false
  for (const name of PERSONAL) if (details[name] !== undefined) return true
  return false
}

export function withoutPersonalData(details: KnownDetails | undefined): KnownDetails | undefined {
  return selectDetails(details, name => !PERSONAL.has(name))
}

/** Returns the same object if all its facts are selected. */
function selectDetails(
  details: KnownDetails | undefined,
  isSelected: (name: FactName) => boolean,
): KnownDetails | undefined {
  if (details === undefined) return undefined
  const names = Object.keys(details) as FactName[]
  const selected = names.filter(isSelected)
  if (selected.length === names.length) return details
  return unlessEmpty(Object.fromEntries(selected.map(name => [name, details[name]])))
}

function unlessEmpty(details: KnownDetails): KnownDetails | undefined {
  return Object.keys(details).length === 0 ? undefined : details
}

/** The property `details` of a stored object; none if no fact is known. */
export function asDetails(details: KnownDetails | undefined): { readonly details?: KnownDetails } {
  return details === undefined ? {} : { details }
}

type ShownDetails = Pick<Action, 'origin' | 'customer' | 'payment' | 'mode' | 'links'>

/** The details as an action shows them. An unknown fact is null. An action without details shows none. */
export function showDetails(details: KnownDetails | undefined): ShownDetails {
  if (details === undefined) return {}
  const fact = (name: FactName) => details[name]?.[0] ?? null
  const customer = { id: fact('customer.id'), name: fact('customer.name'), email: fact('customer.email') }
  return {
    origin: {
      // The stored text is one of the words of the contract, because `knownDetails` read it from there.
      channel: fact('origin.channel') as NonNullable<ShownDetails['origin']>['channel'],
      key_name: fact('origin.key_name'),
      user: fact('origin.user'),
      request_id: fact('origin.request_id'),
      idempotency_key: fact('origin.idempotency_key'),
    },
    customer: Object.values(customer).every(value => value === null) ? null : customer,
    payment: {
      number: fact('payment.number'),
      plan: fact('payment.plan'),
      refund_reason: fact('payment.refund_reason'),
      destination: fact('payment.destination'),
    },
    mode: fact('mode') as NonNullable<ShownDetails['mode']> | null,
    links: { provider: fact('dashboardUrl'), console: null },
  }
}
