import {
  type Action,
  type ActorKind,
  type DetailName,
  FACT_OF_ACTOR,
  isPersonalDetail,
  type Origin,
  type ProviderKind,
} from '@backstop/contracts'
import type { SightingDetails } from '@backstop/providers'

/**
 * The details that help a person to act: who made an action, whose payment it is, and where to look at it. No verdict
 * depends on them.
 */

/** Reads each fact of a sighting. A fact is one value that a provider may state or leave out. */
const FACTS = {
  'customer.id': ({ customer }: SightingDetails) => customer?.id,
  'customer.name': ({ customer }: SightingDetails) => customer?.name,
  'customer.email': ({ customer }: SightingDetails) => customer?.email,
  'payment.number': ({ payment }: SightingDetails) => payment?.number,
  'payment.plan': ({ payment }: SightingDetails) => payment?.plan,
  'payment.refund_reason': ({ payment }: SightingDetails) => payment?.refund_reason,
  'payment.destination': ({ payment }: SightingDetails) => payment?.destination,
  mode: ({ mode }: SightingDetails) => mode,
  account: ({ account }: SightingDetails) => account,
  dashboardUrl: ({ dashboardUrl }: SightingDetails) => dashboardUrl,
} as const satisfies Partial<Record<DetailName, unknown>>

type FactName = keyof typeof FACTS

const FACT_NAMES = Object.keys(FACTS) as readonly FactName[]
const ORIGIN_FIELDS = [
  'user',
  'key_name',
  'channel',
  'request_id',
  'idempotency_key',
] as const satisfies readonly (keyof Origin)[]

/** A value, the version of the object that stated it, and whether it is personal data. */
type Fact = readonly [value: string, version: number, isPersonal?: true]

/** An origin as one sighting stated it. It is never put together from several sightings, which may be of several requests. */
interface KnownOrigin {
  readonly version: number
  readonly facts: Readonly<Partial<Record<keyof Origin, string>>>
  /** The facts that are personal data; absent if there are none. */
  readonly personal?: readonly (keyof Origin)[]
  /** Who the facts name; absent if nobody, and for origins that earlier versions stored. */
  readonly actor?: { readonly id: string; readonly kind: ActorKind }
}

/** The known facts of one object. Unknown facts are left out. */
export type KnownDetails = Readonly<Partial<Record<FactName, Fact>>> & { readonly origin?: KnownOrigin }

/** The facts that belong to one change of a subscription, and not to the subscription. */
const OF_CHANGE: ReadonlySet<keyof KnownDetails> = new Set<keyof KnownDetails>(['origin', 'payment.refund_reason'])

/**
 * The facts of a sighting.
 * @param version orders the states of the object, e.g. the provider's version or the time of the state
 */
export function knownDetails(
  details: SightingDetails | undefined,
  version: number,
  provider: ProviderKind,
): KnownDetails | undefined {
  if (details === undefined) return undefined
  const origin = knownOrigin(details, version, provider)
  const facts: { -readonly [Name in keyof KnownDetails]: KnownDetails[Name] } = origin === undefined ? {} : { origin }
  for (const name of FACT_NAMES) {
    const value = FACTS[name](details)
    if (value == null) continue
    facts[name] = isPersonalDetail(provider, name, value) ? [value, version, true] : [value, version]
  }
  return unlessEmpty(facts)
}

function knownOrigin(
  { origin, actor }: SightingDetails,
  version: number,
  provider: ProviderKind,
): KnownOrigin | undefined {
  if (origin === undefined) return undefined
  const facts: Partial<Record<keyof Origin, string>> = {}
  const personal: (keyof Origin)[] = []
  for (const name of ORIGIN_FIELDS) {
    const value = origin[name]
    if (value === null) continue
    facts[name] = value
    if (isPersonalDetail(provider, `origin.${name}`, value)) personal.push(name)
  }
  if (Object.keys(facts).length === 0) return undefined
  return {
    version,
    facts,
    ...(personal.length === 0 ? {} : { personal }),
    ...(actor === undefined ? {} : { actor }),
  }
}

/**
 * Merges the facts of two sightings of one object. The result does not depend on the order or the number of sightings:
 * the origin is the whole origin of the earliest sighting that stated one, and every other fact is the newest. Of two
 * origins of one version, the one with more facts is kept. Otherwise the greater text is kept. Returns the same object
 * if it knows all facts already.
 */
export function mergeDetails(a: KnownDetails | undefined, b: KnownDetails | undefined): KnownDetails | undefined {
  if (a === undefined || b === undefined) return a ?? b
  let merged: { -readonly [Name in keyof KnownDetails]: KnownDetails[Name] } | undefined
  for (const name of Object.keys(b) as (keyof KnownDetails)[]) {
    if (name === 'origin') {
      if (a.origin !== undefined && !isStronger(b.origin as KnownOrigin, a.origin)) continue
      merged ??= { ...a }
      merged.origin = b.origin as KnownOrigin
      continue
    }
    const [known, seen] = [a[name], b[name] as Fact]
    if (known !== undefined && !replaces(seen, known)) continue
    merged ??= { ...a }
    merged[name] = seen
  }
  return merged ?? a
}

function replaces([value, version]: Fact, [knownValue, knownVersion]: Fact): boolean {
  return version === knownVersion ? value > knownValue : version > knownVersion
}

/** True if the first origin is kept. The earliest is nearest to the request that made the action. */
function isStronger(origin: KnownOrigin, known: KnownOrigin): boolean {
  if (origin.version !== known.version) return origin.version < known.version
  const [count, knownCount] = [countFacts(origin), countFacts(known)]
  if (count !== knownCount) return count > knownCount
  for (const name of ORIGIN_FIELDS) {
    const [value, knownValue] = [origin.facts[name] ?? '', known.facts[name] ?? '']
    if (value !== knownValue) return value > knownValue
  }
  // A prefix may have been declared between the two sightings.
  return (origin.actor?.id ?? '') > (known.actor?.id ?? '')
}

function countFacts({ facts }: KnownOrigin): number {
  let count = 0
  for (const name of ORIGIN_FIELDS) if (facts[name] !== undefined) count += 1
  return count
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
  return details?.origin === undefined ? undefined : { origin: details.origin }
}

export function withoutOrigin(details: KnownDetails | undefined): KnownDetails | undefined {
  if (details?.origin === undefined) return details
  const { origin: _origin, ...facts } = details
  return unlessEmpty(facts)
}

export function hasPersonalData(details: KnownDetails | undefined): boolean {
  if (details === undefined) return false
  if (details.origin?.personal !== undefined) return true
  for (const name of FACT_NAMES) if (details[name]?.[2] === true) return true
  return false
}

/** The personal facts about the customer and the payment, without those of the origin, which may name the team. */
export function personalFactsOf(details: KnownDetails | undefined): readonly string[] {
  if (details === undefined) return []
  return FACT_NAMES.flatMap(name => (details[name]?.[2] === true ? details[name][0] : []))
}

/** The origin is kept without its personal facts, even if it has no others, so that no later origin replaces it. */
export function withoutPersonalData(details: KnownDetails | undefined): KnownDetails | undefined {
  if (details === undefined || !hasPersonalData(details)) return details
  const kept = selectDetails(details, name => name === 'origin' || details[name]?.[2] !== true)
  if (kept?.origin?.personal === undefined) return kept
  return { ...kept, origin: withoutFacts(kept.origin, kept.origin.personal) }
}

/** The facts of an origin that name people and keys of the team. On a page of the provider, the user is the customer. */
const OF_TEAM: readonly (keyof Origin)[] = ['user', 'key_name']

/**
 * The details without personal data of the customer. The same object if there is none.
 * @param addresses the customer's, in lower case. A caller of the API may claim one of them as the user
 */
export function withoutCustomer(
  details: KnownDetails | undefined,
  addresses: ReadonlySet<string> = new Set(),
): KnownDetails | undefined {
  const kept = selectDetails(details, name => name === 'origin' || details?.[name]?.[2] !== true)
  const { personal = [], facts } = kept?.origin ?? {}
  const isClaimed = facts?.channel === 'api' && addresses.has(facts.user?.trim().toLowerCase() ?? '')
  const isOfTeam = (name: keyof Origin) =>
    facts?.channel !== 'hosted_page' && OF_TEAM.includes(name) && !(isClaimed && name === 'user')
  const erased = personal.filter(name => !isOfTeam(name))
  if (kept?.origin === undefined || erased.length === 0) return kept
  return { ...kept, origin: withoutFacts(kept.origin, erased) }
}

function withoutFacts({ version, facts, personal = [], actor }: KnownOrigin, erased: readonly (keyof Origin)[]) {
  const left = Object.fromEntries(Object.entries(facts).filter(([name]) => !erased.includes(name as keyof Origin)))
  const stillPersonal = personal.filter(name => !erased.includes(name))
  const named = actor && FACT_OF_ACTOR[actor.kind]
  const isKept = actor !== undefined && (named == null || !erased.includes(named))
  return {
    version,
    facts: left,
    ...(stillPersonal.length === 0 ? {} : { personal: stillPersonal }),
    ...(isKept ? { actor } : {}),
  }
}

/** Returns the same object if all its facts are selected. */
function selectDetails(
  details: KnownDetails | undefined,
  isSelected: (name: keyof KnownDetails) => boolean,
): KnownDetails | undefined {
  if (details === undefined) return undefined
  const names = Object.keys(details) as (keyof KnownDetails)[]
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

/** Who made the action, as its projections name them. */
export function actorOfDetails(details: KnownDetails | undefined): Pick<Action, 'actor_id'> {
  const actor = details?.origin?.actor
  return actor === undefined ? {} : { actor_id: actor.id }
}

type ShownDetails = Pick<Action, 'origin' | 'actor_id' | 'customer' | 'payment' | 'mode' | 'account' | 'links'>

/** The details as an action shows them. An unknown fact is null. An action without details shows none. */
export function showDetails(details: KnownDetails | undefined): ShownDetails {
  if (details === undefined) return {}
  const fact = (name: FactName) => details[name]?.[0] ?? null
  const made = details.origin?.facts
  const account = fact('account')
  const customer = { id: fact('customer.id'), name: fact('customer.name'), email: fact('customer.email') }
  return {
    origin: {
      // The stored text is one of the words of the contract, because `knownDetails` read it from there.
      channel: (made?.channel ?? null) as Origin['channel'],
      key_name: made?.key_name ?? null,
      user: made?.user ?? null,
      request_id: made?.request_id ?? null,
      idempotency_key: made?.idempotency_key ?? null,
    },
    ...actorOfDetails(details),
    customer: Object.values(customer).every(value => value === null) ? null : customer,
    payment: {
      number: fact('payment.number'),
      plan: fact('payment.plan'),
      refund_reason: fact('payment.refund_reason'),
      destination: fact('payment.destination'),
    },
    mode: fact('mode') as NonNullable<ShownDetails['mode']> | null,
    ...(account === null ? {} : { account }),
    links: { provider: fact('dashboardUrl'), console: null },
  }
}
