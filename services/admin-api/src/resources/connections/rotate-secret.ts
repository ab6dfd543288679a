import {
  type ConnectionDocument,
  CreatedConnection,
  overlapSecondsOf,
  type ProviderKind,
  SecretRotation,
} from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { changeAudited, type VersionedChange } from '../../http/change-document.ts'
import { findConnection, refuseHeartbeat } from '../../http/find-resource.ts'
import { refusedField } from '../../http/refused-field.ts'
import { defineRoute, type Route, type RouteRequest, versionedAnswer } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { MAX_ACTIVE_SECRETS, rotateSecrets, showConnection } from './rules/connection.ts'
import { resolveInboundSecret, sealConnectionSecret } from './seal-connection-secret.ts'

const REFUSALS = {
  too_many_active: `${MAX_ACTIVE_SECRETS} secrets are still valid; rotate with a shorter overlap_seconds`,
  secret_in_use: 'This secret is already in use; give another one',
} as const

/** POST /v1/projects/{id}/connections/{connection_id}/rotate-secret */
export function rotateSecretRoute(parts: AdminParts): Route {
  const { stores } = parts
  return defineRoute({
    method: 'post',
    path: '/v1/projects/{id}/connections/{connection_id}/rotate-secret',
    operationId: 'rotateConnectionSecret',
    tag: 'Connections',
    summary: 'Rotate the secret that authenticates notifications',
    description:
      'The previous secrets stay valid for the overlap (24 hours by default). Only this answer shows the new secret.',
    scope: 'manage',
    body: SecretRotation,
    answers: {
      200: {
        description: 'The connection with its new secret',
        schema: CreatedConnection,
        shownOnce: ['signing_secret', 'username', 'password'],
      },
    },
    refusals: ['conflict'],
    async handle(request) {
      const { params, body, principal, now } = request
      const connection = await findConnection(stores, principal, params.connection_id, params.id)
      refuseWrongSecret(connection.kind, body)
      const made = resolveInboundSecret(connection.kind, body)
      const place = { id: connection._id, projectId: connection.project_id }
      const sealed = sealConnectionSecret(parts.secretBox, made.secret, 'inbound_secret', place, now)
      // The sweep is read before the change: if a read failed after it, the caller would never see the new secret.
      const sweep = await stores.sweeps.find({ _id: connection._id })
      const isGiven = (body.signing_secret ?? body.destination_secret) !== undefined
      const rotate = ({ inbound_secrets }: ConnectionDocument, doneAt?: Date) => {
        if (isGiven && doneAt !== undefined) return undefined
        // Nobody saw the secret that a first attempt without an answer has made.
        const seen = inbound_secrets.filter(({ created_at }) => created_at.getTime() !== doneAt?.getTime())
        const rotation = rotateSecrets(seen, sealed, overlapSecondsOf(body) * 1_000, now)
        if (rotation.kind === 'refused') throw new AppError('conflict', REFUSALS[rotation.reason])
        return { inbound_secrets: rotation.secrets }
      }
      const changed = await changeConnection({ ...request, ifMatch: undefined }, 'connection.rotate_secret', rotate)
      return versionedAnswer(200, { ...showConnection(changed, sweep, parts.ingressPublicUrl, now), ...made.shown })
    },
  })
}

/**
 * The kind of the connection decides which secret may or must be given. The body does not name the kind, so the schema cannot check this.
 */
function refuseWrongSecret(kind: ProviderKind, body: SecretRotation): void {
  const refuse = (field: keyof SecretRotation, message: string) => {
    throw refusedField(`body.${field}`, message)
  }
  if (kind === 'reseller' && body.destination_secret === undefined) {
    refuse('destination_secret', "Give the destination's new secret key, as the provider shows it")
  }
  if (kind !== 'reseller' && body.destination_secret !== undefined) {
    refuse('destination_secret', 'Only a reseller connection has one')
  }
  if (kind !== 'processor' && body.signing_secret !== undefined) {
    refuse('signing_secret', 'Only a processor connection has one')
  }
}

type ConnectionRequest = Pick<
  RouteRequest<{ readonly id: string; readonly connection_id: string }, never, never>,
  'change' | 'params' | 'principal' | 'now' | 'ifMatch'
>

/** Changes a connection with its audit row, if it still has the version that was read. The heartbeat's own is refused. */
export function changeConnection(
  request: ConnectionRequest,
  action: string,
  next: VersionedChange<ConnectionDocument>['next'],
): Promise<ConnectionDocument> {
  const { id, connection_id } = request.params
  return changeAudited(request, action, collections => ({
    collection: collections.connections,
    async find() {
      const found = await findConnection(collections, request.principal, connection_id, id)
      refuseHeartbeat(found.project_id)
      return found
    },
    what: `connection ${connection_id}`,
    next,
  }))
}
