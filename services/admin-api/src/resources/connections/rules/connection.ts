import {
  type AccountSetting,
  Connection,
  type ConnectionDocument,
  type ConnectionPatch,
  type ConnectionReading,
  type ConnectionSecret,
  MAX_ACCOUNTS,
  type NewConnection,
  type ProjectDocument,
  type SweepDocument,
} from '@backstop/contracts'
import { showDocument } from '../../../rules/show-document.ts'

/** The sealed secrets of a new connection. */
export interface SealedSecrets {
  readonly inbound: ConnectionSecret
  readonly readKey: ConnectionSecret | null
}

/** A new connection as it is stored. */
export function connectionDocument(
  id: string,
  projectId: string,
  body: NewConnection,
  secrets: SealedSecrets,
  now: Date,
): ConnectionDocument {
  const site = body.kind === 'subscription' ? (body.site ?? null) : null
  return {
    _id: id,
    project_id: projectId,
    kind: body.kind,
    name: body.name,
    out_of_band: body.out_of_band,
    refunded_twice_within_hours: body.refunded_twice_within_hours ?? null,
    burst_alarm: body.burst_alarm ?? true,
    status: connectionStatusOf(body.kind, secrets.readKey, site),
    inbound_secrets: [secrets.inbound],
    read_key: secrets.readKey,
    site,
    api_base: body.api_base ?? null,
    version: 1,
    created_at: body.connected_at === undefined ? now : new Date(body.connected_at),
    updated_at: now,
    deleted_at: null,
  }
}

/** Subscription events only say that something changed, so without read access to the provider no verdict is possible. */
function connectionStatusOf(kind: NewConnection['kind'], readKey: ConnectionSecret | null, site: string | null) {
  return kind === 'subscription' && (readKey === null || site === null) ? 'needs_setup' : 'active'
}

/** Limits how much history the sweeps of a new demo connection read. */
const MAX_DEMO_HISTORY_MS = 31 * 86_400_000

/** Returns why a connection cannot be recorded as created at an earlier time, or undefined if it can or no time is given. */
export function connectedAtRefusal(
  connectedAt: string | undefined,
  project: Pick<ProjectDocument, 'demo'>,
  now: Date,
): string | undefined {
  if (connectedAt === undefined) return undefined
  if (project.demo !== true) return 'Only a connection of a demo project may have a connected_at; leave it out'
  const ageMs = now.getTime() - Date.parse(connectedAt)
  return ageMs >= 0 && ageMs <= MAX_DEMO_HISTORY_MS ? undefined : 'Give a time within the last 31 days'
}

/** Returns why the site of a connection cannot be set, or undefined if it can or is not given. */
export function siteRefusal(known: ConnectionDocument, site: string | undefined): string | undefined {
  if (site === undefined || site === known.site) return undefined
  if (known.kind !== 'subscription') return 'Only a subscription connection has a site'
  if (known.site !== null)
    return 'The site of a connection cannot change, because ids are unique within one site; create another connection'
  return undefined
}

/**
 * Returns why the stored read key may not be used with the changed connection, or undefined if it may. The caller of a change may not
 * know the key, so it is sent to another origin only if the caller gives it again.
 */
export function readKeyRefusal(known: ConnectionDocument, patch: ConnectionPatch): string | undefined {
  if (known.read_key === null || patch.read_key !== undefined) return undefined
  const site = patch.site ?? known.site
  const api_base = patch.api_base === undefined ? known.api_base : patch.api_base
  if (readOrigin(known) === readOrigin({ kind: known.kind, api_base, site })) return undefined
  return 'Give the read key again, or null to remove it: a stored key is not sent to another host'
}

/** The origin that the read key is sent to: of api_base, or else the provider's own, which `site` names for a biller. */
function readOrigin({ kind, api_base, site }: Pick<ConnectionDocument, 'kind' | 'api_base' | 'site'>): string {
  if (api_base !== null) return URL.parse(api_base)?.origin ?? api_base
  return kind === 'subscription' ? `site ${site}` : 'provider'
}

/**
 * The changed fields of a connection.
 * @param readKey the sealed key; null removes the stored key, undefined keeps it
 */
export function patchedConnection(
  known: ConnectionDocument,
  patch: ConnectionPatch,
  readKey: ConnectionSecret | null | undefined,
): Partial<
  Pick<
    ConnectionDocument,
    | 'name'
    | 'out_of_band'
    | 'refunded_twice_within_hours'
    | 'accounts'
    | 'burst_alarm'
    | 'status'
    | 'read_key'
    | 'site'
    | 'api_base'
  >
> {
  const read_key = readKey === undefined ? known.read_key : readKey
  const site = patch.site ?? known.site
  return {
    name: patch.name ?? known.name,
    out_of_band: patch.out_of_band ?? known.out_of_band,
    refunded_twice_within_hours:
      patch.refunded_twice_within_hours === undefined
        ? (known.refunded_twice_within_hours ?? null)
        : patch.refunded_twice_within_hours,
    ...(patch.accounts === undefined ? {} : { accounts: patchedAccounts(known.accounts, patch.accounts) }),
    burst_alarm: patch.burst_alarm ?? known.burst_alarm ?? true,
    api_base: patch.api_base === undefined ? known.api_base : patch.api_base,
    status: connectionStatusOf(known.kind, read_key, site),
    read_key,
    site,
  }
}

/** The settings of accounts with these changes, by their ids. */
function patchedAccounts(
  known: readonly AccountSetting[] = [],
  changes: NonNullable<ConnectionPatch['accounts']>,
): AccountSetting[] {
  const settings = new Map(known.map(({ account, out_of_band }) => [account, out_of_band]))
  for (const { account, out_of_band } of changes) {
    if (out_of_band === null) settings.delete(account)
    else settings.set(account, out_of_band)
  }
  const sorted = [...settings].sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([account, out_of_band]) => ({ account, out_of_band }))
}

/** Returns why settings of accounts cannot be changed, or undefined if they can or are not given. */
export function accountsRefusal(known: ConnectionDocument, accounts: ConnectionPatch['accounts']): string | undefined {
  if (accounts === undefined) return undefined
  if (known.kind !== 'processor') return 'Only the card processor has connected accounts'
  if (patchedAccounts(known.accounts, accounts).length <= MAX_ACCOUNTS) return undefined
  return `At most ${MAX_ACCOUNTS} accounts have a setting of their own; set out_of_band of the connection for the others`
}

const FULL_ACCESS_WARNING = {
  field: 'read_key',
  message:
    'This key has all rights, also to make refunds. Create a restricted key that only reads (rk_live_…), set it here, and roll this key if others know it',
}

/**
 * A connection as the API shows it: with fingerprints in place of secrets, and without expired secrets.
 * @param sweep undefined if the connection was never swept
 */
export function showConnection(
  document: ConnectionDocument,
  sweep: SweepDocument | undefined,
  ingressPublicUrl: string,
  now: Date,
): Connection {
  return showDocument(Connection, document, {
    connection_id: document._id,
    inbound_url: `${ingressPublicUrl.replace(/\/+$/, '')}/v1/webhooks/${document.kind}/${document._id}`,
    refunded_twice_within_hours: document.refunded_twice_within_hours ?? null,
    accounts: document.accounts ?? [],
    burst_alarm: document.burst_alarm ?? true,
    has_read_key: document.read_key !== null,
    reading: providerReading(document, sweep),
    silence: activeSilence(document, now),
    secret_fingerprints: activeSecrets(document.inbound_secrets, now).map(secret => secret.fingerprint),
    warnings: document.read_key?.has_full_access === true ? [FULL_ACCESS_WARNING] : [],
  })
}

function activeSilence({ silence }: ConnectionDocument, now: Date): Connection['silence'] {
  return silence != null && Date.parse(silence.ends_at) > now.getTime() ? silence : null
}

function providerReading(
  { status, read_key }: ConnectionDocument,
  sweep: SweepDocument | undefined,
): ConnectionReading {
  const unread = { last_run_at: null, error: null, failing_since: null, next_run_at: null }
  if (status !== 'active' || read_key === null) return { state: 'off', ...unread }
  const lastRunAt = sweep?.last_run_at ?? null
  // The last sweep used another key, so its result says nothing about this key.
  if (sweep === undefined || lastRunAt === null || lastRunAt < read_key.created_at)
    return { state: 'pending', ...unread }
  return {
    state: sweep.last_error === null ? 'healthy' : 'failing',
    last_run_at: lastRunAt.toISOString(),
    error: sweep.last_error,
    failing_since: sweep.failing_since?.toISOString() ?? null,
    next_run_at: sweep.next_run_at.toISOString(),
  }
}

function activeSecrets(secrets: readonly ConnectionSecret[], now: Date): ConnectionSecret[] {
  return secrets.filter(({ expires_at }) => expires_at === null || expires_at.getTime() > now.getTime())
}

/** Ingress checks a notification against at most this many secrets of a connection. */
export const MAX_ACTIVE_SECRETS = 5

/** The secrets after a rotation, or why it is refused. */
export type Rotation =
  | { readonly kind: 'rotated'; readonly secrets: ConnectionSecret[] }
  | { readonly kind: 'refused'; readonly reason: 'too_many_active' | 'secret_in_use' }

/**
 * Adds a new secret. The previous secrets stay valid until the overlap ends, or until their own earlier end. Expired secrets are dropped.
 */
export function rotateSecrets(
  secrets: readonly ConnectionSecret[],
  next: ConnectionSecret,
  overlapMs: number,
  now: Date,
): Rotation {
  const ending = new Date(now.getTime() + overlapMs)
  const active = activeSecrets(secrets, now)
  if (active.some(secret => secret.fingerprint === next.fingerprint))
    return { kind: 'refused', reason: 'secret_in_use' }
  const kept = active
    .map(secret => ({ ...secret, expires_at: earlierTime(secret.expires_at, ending) }))
    .filter(({ expires_at }) => expires_at.getTime() > now.getTime())
  if (kept.length >= MAX_ACTIVE_SECRETS) return { kind: 'refused', reason: 'too_many_active' }
  return { kind: 'rotated', secrets: [next, ...kept] }
}

function earlierTime(a: Date | null, b: Date): Date {
  return a === null || b.getTime() < a.getTime() ? b : a
}

/** The document of a deleted connection: it keeps its name and history, but no secrets. */
export function deletedConnection(
  now: Date,
): Pick<ConnectionDocument, 'status' | 'inbound_secrets' | 'read_key' | 'deleted_at'> {
  return { status: 'deleted', inbound_secrets: [], read_key: null, deleted_at: now }
}
