import { Label } from '@backstop/contracts'
import { z } from 'zod'

/** The claims of a provider about a person, checked. */
export interface PersonClaims {
  readonly name: string
  readonly email: string | null
  /** Undefined if the provider did not state the groups. */
  readonly groups: readonly string[] | undefined
}

type Claims = Readonly<Record<string, unknown>>

const Email = z.email().max(254)
const MAX_NAME_LENGTH = 200
/** The claims that can name a person, the best one first. */
const NAME_CLAIMS = ['name', 'preferred_username', 'email', 'sub'] as const

/** True if the claims lack a name or the groups, so that the provider must be asked for more. */
export function isIncomplete(claims: Claims, groupsClaim: string): boolean {
  return ['name', groupsClaim].some(name => !Object.hasOwn(claims, name))
}

/** Reads the claims. People choose their own names at some providers, so a name that could not be shown safely is not used. */
export function readClaims(claims: Claims, groupsClaim: string): PersonClaims {
  const names = NAME_CLAIMS.flatMap(claim => {
    const given = claims[claim]
    return typeof given === 'string' ? (Label.safeParse(given.slice(0, MAX_NAME_LENGTH)).data ?? []) : []
  })
  return {
    name: names[0] ?? 'Unnamed',
    email: Email.safeParse(claims.email).data ?? null,
    groups: readGroups(Object.hasOwn(claims, groupsClaim) ? claims[groupsClaim] : undefined),
  }
}

/** Some providers send a single group as text. */
function readGroups(given: unknown): readonly string[] | undefined {
  if (typeof given === 'string') return [given]
  return Array.isArray(given) ? given.filter(group => typeof group === 'string') : undefined
}
