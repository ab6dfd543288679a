/**
 * Bounces and complaints of one address, in a form common to all providers. `ses-event.ts` and `postmark-event.ts` read the formats of
 * the providers.
 */
import { type Command, deterministicId, isoTime } from '@backstop/contracts'
import { z } from 'zod'

/** A bounce or complaint of one address. */
export interface MailEvent {
  readonly kind: 'hard_bounce' | 'soft_bounce' | 'complaint'
  readonly address: string
  /** Null if the mail names no project. Then no address can be suppressed. */
  readonly projectId: string | null
  /** Time of the bounce or complaint, ISO 8601 in UTC with milliseconds. */
  readonly at: string
  /** The answer of the receiving server, for people to read. */
  readonly detail: string | null
  /** The provider's id of the report. A repeated report has the same id. */
  readonly reportId: string
}

/** The content of a provider's request: reports, an event that Backstop does not use, or malformed content. */
export type ProviderReport =
  | { readonly kind: 'events'; readonly events: readonly MailEvent[] }
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'malformed'; readonly reason: string }

/**
 * Reads the project id that every mail contains and that providers return (packages/channels/src/email/smtp-mailer.ts).
 * @returns null if the value is no project id
 */
export function readProjectId(value: unknown): string | null {
  return typeof value === 'string' && /^prj_[0-9a-z]{1,64}$/.test(value) ? value : null
}

const Address = z.email().max(254)

/** The address in `a@b` or `Name <a@b>`, in lower case; undefined if the value is no address. */
export function readAddress(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const bare = /<([^<>]*)>\s*$/.exec(value)?.[1] ?? value.trim()
  const parsed = Address.safeParse(bare.toLowerCase())
  return parsed.success ? parsed.data : undefined
}

/** Parses a provider's time; undefined if the value is no time. */
export function readTime(value: unknown): string | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : isoTime(ms)
}

/** Joins and truncates the values to the length that a suppression may have, without control characters. */
export function readDetail(...values: readonly unknown[]): string | null {
  const found = values.find(value => typeof value === 'string' && value.trim() !== '')
  return typeof found === 'string'
    ? found
        .replace(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, 300)
    : null
}

/** The command for a report. A repeated report gives the same command. */
export function commandOf(format: string, event: MailEvent & { readonly projectId: string }): Command {
  const { kind, address, projectId, at, detail, reportId } = event
  const common = {
    command_id: deterministicId('command', format, reportId, projectId, address),
    project_id: projectId,
    requested_at: at,
    address,
    detail,
  }
  return kind === 'soft_bounce'
    ? { ...common, kind: 'soft_bounce' }
    : { ...common, kind: 'suppress_address', reason: kind }
}
