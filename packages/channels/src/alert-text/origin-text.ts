import type { Action, ActorKind, Origin, ProviderKind } from '@backstop/contracts'
import { capitalise, toOneLine } from './wording.ts'

interface Made {
  readonly provider: ProviderKind
  readonly origin?: Pick<Origin, 'channel' | 'key_name' | 'user'> | undefined
  /** The name that people gave to the actor. */
  readonly actor_name?: string | undefined
}

const BY_PROGRAM_OR_PERSON = 'by an API key or a dashboard user'

/** Whether the provider names the users of its dashboard. If it does, a missing name was left out or erased. */
const NAMES_USERS: Record<ProviderKind, boolean> = { processor: false, reseller: false, subscription: true }

/** Says how and by whom an action was made, as part of a sentence: `by Support tool, with the API key "nightly-job"`. */
export function describeOrigin(made: Made): string {
  const how = describeHow(made)
  if (made.actor_name === undefined) return how
  const { channel, key_name } = made.origin ?? { channel: null, key_name: null }
  const isClaim = (channel === 'api' || channel === null) && key_name === null
  return `by ${toOneLine(made.actor_name)}, ${isClaim ? 'as the idempotency key says' : how.replace(BY_SOMEBODY, '')}`
}

const ACTOR_WORDS: Record<ActorKind, string> = {
  api_key: 'API key',
  dashboard_user: "user of the provider's dashboard",
  hosted_page: "the provider's own page",
  provider: 'the provider itself',
  key_prefix: 'as the idempotency keys say',
}

/**
 * Says which actor made many actions: `by Support tool (API key "nightly-job")`.
 * @param label the name of the key, or the user; null if it is not known
 */
export function describeActor(name: string, kind: ActorKind, label: string | null): string {
  return `by ${toOneLine(name)} (${ACTOR_WORDS[kind]}${label === null ? '' : ` "${toOneLine(label)}"`})`
}

/** What a name replaces. */
const BY_SOMEBODY = /^by (a person|the customer,) /

function describeHow({ provider, origin }: Made): string {
  const user = origin?.user == null ? null : toOneLine(origin.user)
  switch (origin?.channel) {
    case 'api':
      if (origin.key_name !== null) return `with the API key "${toOneLine(origin.key_name)}"${statedUser(user)}`
      if (user !== null) return `through the API${statedUser(user)}`
      // The processor reports changes in its dashboard as API requests, too.
      return provider === 'processor' ? BY_PROGRAM_OR_PERSON : 'by an API key'
    case 'dashboard':
      return `by a person in the provider's dashboard${user === null ? '' : ` (${user})`}`
    case 'automatic':
      return 'automatically by the provider itself'
    case 'hosted_page':
      return "by the customer, on the provider's own page"
    default:
      return describeUnknownChannel(origin, user)
  }
}

/** The caller of an API can state any user, so the text must not claim that this user made it. */
function statedUser(user: string | null): string {
  return user === null ? '' : ` (the caller states the user ${user})`
}

function describeUnknownChannel(origin: Made['origin'], user: string | null): string {
  if (user !== null) return `by ${user}`
  return origin?.key_name == null ? 'at the provider' : `with the API key "${toOneLine(origin.key_name)}"`
}

/** The fact "How": the origin, and which part of it the provider does not report. */
export function factOfOrigin(action: Made & Pick<Action, 'verdict' | 'operation_id'>): string {
  const text = describeOrigin(action)
  const { channel, key_name, user } = action.origin ?? { channel: null, key_name: null, user: null }
  const isKnown =
    action.actor_name !== undefined ||
    key_name !== null ||
    user !== null ||
    channel === 'automatic' ||
    channel === 'hosted_page'
  if (isKnown) return capitalise(text)
  if (action.verdict === 'explained' && action.operation_id !== null) return 'By your software, which reported it'
  switch (channel) {
    case 'api':
      return `${capitalise(text)}; the provider does not say which${action.provider === 'processor' ? '' : ' key'}`
    case 'dashboard':
      return `${capitalise(text)}; ${NAMES_USERS[action.provider] ? 'the name is not shown here' : 'the provider does not say who'}`
    default:
      return 'The provider does not say how or by whom'
  }
}
