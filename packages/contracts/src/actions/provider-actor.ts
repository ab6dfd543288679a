import { z } from 'zod'
import type { ProviderKind } from '../providers.ts'
import { deterministicId } from '../values/ids.ts'
import type { Origin } from './action-details.ts'

/** What kind of actor makes actions at a provider. */
export const ActorKind = z.enum([
  'api_key',
  'dashboard_user',
  /** A page that the provider hosts, where the customer acts. */
  'hosted_page',
  /** The provider itself. */
  'provider',
  /** Software whose idempotency keys begin with a prefix that a team declared. */
  'key_prefix',
])
export type ActorKind = z.infer<typeof ActorKind>

/** Who made an action, as its provider names it. */
export interface NamedActor {
  readonly kind: ActorKind
  /** The name or id of the key, the user, or the prefix; null if there is only one of this kind. */
  readonly label: string | null
}

/**
 * Who made an action; undefined if the provider does not say. What the provider states comes before a prefix, because anybody with an API
 * key can choose an idempotency key, and nobody can choose what the provider states. docs/decisions/actors.md has this as a table.
 * @param prefixes the prefixes that the team declared; the longest that fits is used
 */
export function actorOf(
  { channel, key_name, user, idempotency_key }: Pick<Origin, 'channel' | 'key_name' | 'user' | 'idempotency_key'>,
  prefixes: Iterable<string> = [],
): NamedActor | undefined {
  switch (channel) {
    case 'automatic':
      return { kind: 'provider', label: null }
    case 'hosted_page':
      return { kind: 'hosted_page', label: null }
    case 'dashboard':
      return user === null ? undefined : { kind: 'dashboard_user', label: user }
    case 'api':
    case null:
      // The user that the caller of an API states is a claim, so it names no actor.
      if (key_name !== null) return { kind: 'api_key', label: key_name }
      return idempotency_key === null ? undefined : actorOfKey(idempotency_key, prefixes)
    default:
      return channel satisfies never
  }
}

/** The kind of the actor of an action that has one. Its idempotency key names it if the origin does not. */
export function actorKindOf(origin: Origin | undefined): ActorKind {
  return (origin && actorOf(origin)?.kind) ?? 'key_prefix'
}

function actorOfKey(key: string, prefixes: Iterable<string>): NamedActor | undefined {
  let longest: string | undefined
  for (const prefix of prefixes) {
    if (key.startsWith(prefix) && prefix.length > (longest?.length ?? 0)) longest = prefix
  }
  return longest === undefined ? undefined : { kind: 'key_prefix', label: longest }
}

/**
 * The id of an actor: the same for all its actions in a project. An account that is connected to a platform has its own actors.
 * @param secret random, and kept in the project, so that nobody can find the e-mail address of a user by guesses
 */
export function actorIdOf(
  secret: string,
  { projectId, provider, account }: { projectId: string; provider: ProviderKind; account: string | undefined },
  { kind, label }: NamedActor,
): string {
  const name = kind === 'dashboard_user' ? label?.toLowerCase() : label
  return deterministicId('actor', secret, projectId, provider, account ?? '', kind, name ?? '')
}

/** The fact of an origin that names an actor of each kind. If it is erased, so is the id. */
export const FACT_OF_ACTOR: Readonly<Record<ActorKind, keyof Origin | null>> = {
  api_key: 'key_name',
  dashboard_user: 'user',
  hosted_page: null,
  provider: null,
  key_prefix: null,
}
