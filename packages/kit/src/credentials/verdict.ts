import type { CredentialRefusal } from './refusal.ts'

/** How one server answered an attempt to use the credentials. `no_answer`: also errors that are no refusal. */
export type ServerOutcome = 'accepted' | 'no_answer' | CredentialRefusal

/** The result of an attempt at all servers of a dependency. */
export type Verdict =
  /** At least one server accepted the credentials. */
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly refusal: CredentialRefusal }
  /** No server accepted the credentials, but they may be right. `suspected`: the refusal of a server, if there was one. */
  | { readonly kind: 'unknown'; readonly suspected: CredentialRefusal | undefined }

/**
 * Judges the credentials by the answers of all servers. One server with a wrong certificate must not stop programs that the
 * others accept, so a refusal counts only if every server refuses. Users and passwords are the same at all servers, so a
 * refused login also counts while other servers do not answer.
 */
export function judgeServers(outcomes: readonly ServerOutcome[]): Verdict {
  if (outcomes.includes('accepted')) return { kind: 'accepted' }
  const refusals = outcomes.filter(outcome => outcome !== 'accepted' && outcome !== 'no_answer')
  const [first] = refusals
  if (refusals.includes('login_refused')) return { kind: 'refused', refusal: 'login_refused' }
  const isCertain = refusals.length === outcomes.length && !refusals.includes('connection_closed')
  return first !== undefined && isCertain ? { kind: 'refused', refusal: first } : { kind: 'unknown', suspected: first }
}

/** The longest time that an attempt at all servers takes, in milliseconds. Servers that cannot be reached end it sooner. */
export const PROBE_WITHIN_MS = 15_000
