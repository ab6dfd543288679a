/** What a mail provider tells of one address. Pure: the formats of providers are read in `ses-event.ts` and `postmark-event.ts`. */
import { type Command, deterministicId, isoTime } from '@backstop/contracts'
import { z } from 'zod'

/** A bounce or complaint of one address. */
export interface MailEvent {
  readonly kind: 'hard_bounce' | 'soft_bounce' | 'complaint'
  readonly address: string
  /** Null where the mail does not say: nothing can be suppressed then. */
  readonly projectId: string | null
  /** When it happened, ISO 8601 in UTC with milliseconds. */
  readonly at: string
  /** For a person: what the receiving server said. */
  readonly detail: string | null
  /** The provider's name for the report: the same when it comes twice. */
  readonly reportId: string
}

/** What a request of a provider holds: reports, or something else of theirs that is of no use here. */
export type ProviderReport =
  | { readonly kind: 'events'; readonly events: readonly MailEvent[] }
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'malformed'; readonly reason: string }

/**
 * What a mail names its project by, in what providers give back of it (packages/channels/src/email/smtp-mailer.ts).
 * @returns null for what is no id of a project
 */
export function readProjectId(value: unknown): string | null {
  return typeof value === 'string' && /^prj_[0-9a-z]{1,64}$/.test(value) ? value : null
}

const Address = z.email().max(254)

/** The address in `a@b` or `Name <a@b>`, in lower case; undefined when it is none. */
export function readAddress(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const bare = /<([^<>]*)>\s*$/.exec(value)?.[1] ?? value.trim()
  const parsed = Address.safeParse(bare.toLowerCase())
  return parsed.success ? parsed.data : undefined
}

/** A time as providers write it; undefined when it is none. */
export function readTime(value: unknown): string | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : isoTime(ms)
}

/** At most what a list of suppressions can show; control characters are none of a person's business. */
export function readDetail(...values: readonly unknown[]): string | null {
  const found = values.find(value => typeof value === 'string' && value.trim() !== '')
  return typeof found === 'string'
    ? found
        .replace(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, 300)
    : null
}

/** The wish that a report leads to. A report that comes twice is the same wish. */
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
