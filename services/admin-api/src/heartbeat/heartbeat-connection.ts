import type { ChannelDocument } from '@backstop/channels'
import { type ConnectionDocument, HEARTBEAT, type ProjectDocument } from '@backstop/contracts'
import type { Secret } from '@backstop/kit/config'
import { AppError } from '@backstop/kit/errors'
import type { SecretBox } from '@backstop/kit/secret-box'
import { connectionDocument } from '../resources/connections/rules/connection.ts'
import { resolveInboundSecret, sealConnectionSecret } from '../resources/connections/seal-connection-secret.ts'
import type { AdminCollections } from '../store/stores.ts'

const NAME = 'Heartbeat (internal)'
/** A refund from before its connection would be explained by that. */
const CONNECTED_BEFORE_MS = 3_600_000
const PLACE = { id: HEARTBEAT.connectionId, projectId: HEARTBEAT.projectId }

export interface HeartbeatConnectionParts {
  readonly stores: Pick<AdminCollections, 'projects' | 'connections' | 'channels'>
  readonly secretBox: SecretBox
}

/**
 * Returns the signing secret of the heartbeat's connection. Stores its project, connection and channel if they do not exist, and again
 * if somebody deleted them or their secret cannot be opened. Another process may do the same: the first document stays, and the other
 * process reads it.
 * @throws AppError `unavailable`
 */
export async function openHeartbeatConnection(parts: HeartbeatConnectionParts, now: Date): Promise<Secret> {
  const { projects, channels } = parts.stores
  if ((await projects.find({ _id: HEARTBEAT.projectId })) === undefined) await projects.insert(projectDocument(now))
  const channel = await channels.find({ _id: HEARTBEAT.channelId })
  if (channel === undefined) await channels.insert(channelDocument(now))
  else if (channel.deleted_at !== null || !channel.enabled)
    await channels.put(channelDocument(now, channel.version + 1))
  return openSecret(parts, now)
}

async function openSecret(
  { stores: { connections }, secretBox }: HeartbeatConnectionParts,
  now: Date,
): Promise<Secret> {
  const stored = await connections.find({ _id: HEARTBEAT.connectionId })
  const known = stored && readSecret(stored, secretBox)
  if (known !== undefined) return known
  const { secret } = resolveInboundSecret('processor', {})
  const inbound = sealConnectionSecret(secretBox, secret, 'inbound_secret', PLACE, now)
  const made = connectionDocument(
    PLACE.id,
    PLACE.projectId,
    { kind: 'processor', name: NAME, out_of_band: 'alert' },
    { inbound, readKey: null },
    now,
  )
  const fresh = { ...made, created_at: new Date(now.getTime() - CONNECTED_BEFORE_MS) }
  if (stored !== undefined) await connections.put({ ...fresh, version: stored.version + 1 })
  else if (!(await connections.insert(fresh))) {
    throw new AppError('unavailable', 'Another process stores the connection of the heartbeat', { retryable: true })
  }
  return secret
}

/** Undefined if the connection is deleted, or SECRET_KEYS lacks the key of its secret. */
function readSecret(connection: ConnectionDocument, secretBox: SecretBox): Secret | undefined {
  const newest = connection.inbound_secrets.find(({ expires_at }) => expires_at === null)
  if (connection.deleted_at !== null || newest === undefined) return undefined
  try {
    return secretBox.open(newest.sealed, { collection: 'connections', field: 'inbound_secret', ...PLACE })
  } catch {
    return undefined
  }
}

function projectDocument(now: Date): ProjectDocument {
  return { _id: HEARTBEAT.projectId, name: NAME, branding: {}, version: 1, created_at: now, updated_at: now }
}

/** The notifier sends nothing for this channel. The name in its URL is reserved, so that no other version can deliver there. */
function channelDocument(now: Date, version = 1): ChannelDocument {
  return {
    _id: HEARTBEAT.channelId,
    project_id: HEARTBEAT.projectId,
    name: NAME,
    events: ['incident.opened'],
    config: { kind: 'webhook', url: 'https://heartbeat.invalid/', secret: null, fingerprint: null },
    enabled: true,
    version,
    created_at: now,
    updated_at: now,
    deleted_at: null,
  }
}
