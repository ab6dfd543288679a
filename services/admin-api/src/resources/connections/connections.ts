import {
  Connection,
  type ConnectionDocument,
  ConnectionPatch,
  CreatedConnection,
  deterministicId,
  NewConnection,
} from '@backstop/contracts'
import { storeNew } from '../../http/change-document.ts'
import { findActiveProject, findConnection, findProject } from '../../http/find-resource.ts'
import { itemRoute, listRoute } from '../../http/read-routes.ts'
import { refusedField } from '../../http/refused-field.ts'
import { defineRoute, type Route, versionedAnswer } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { checkApiBase } from './check-api-base.ts'
import { dryRunRoute } from './dry-run.ts'
import { changeConnection, rotateSecretRoute } from './rotate-secret.ts'
import {
  accountsRefusal,
  connectedAtRefusal,
  connectionDocument,
  deletedConnection,
  patchedConnection,
  readKeyRefusal,
  showConnection,
  siteRefusal,
} from './rules/connection.ts'
import { resolveInboundSecret, sealConnectionSecret, sealReadKey } from './seal-connection-secret.ts'

const tag = 'Connections'
const SHOWN_ONCE = ['signing_secret', 'username', 'password'] as const

/** /v1/projects/{id}/connections */
export function connectionRoutes(parts: AdminParts): Route[] {
  const { stores, ingressPublicUrl } = parts
  return [
    createRoute(parts),
    listRoute({
      path: '/v1/projects/{id}/connections',
      operationId: 'listConnections',
      tag,
      summary: 'List the connections of a project, newest first',
      items: 'connections',
      schema: Connection,
      collection: stores.connections,
      sortedBy: 'created_at',
      narrow: async ({ params, principal }) => ({ project_id: (await findProject(stores, principal, params.id))._id }),
      filter: () => ({ deleted_at: null }),
      beside: stores.sweeps,
      show: (connection, { now }, sweep) => showConnection(connection, sweep, ingressPublicUrl, now),
    }),
    itemRoute({
      path: '/v1/projects/{id}/connections/{connection_id}',
      operationId: 'getConnection',
      tag,
      summary: 'Get a connection',
      item: 'connection',
      schema: Connection,
      isVersioned: true,
      find: ({ params, principal }) => findConnection(stores, principal, params.connection_id, params.id),
      show: async (connection, { now }) =>
        showConnection(connection, await stores.sweeps.find({ _id: connection._id }), ingressPublicUrl, now),
    }),
    patchRoute(parts),
    deleteRoute(),
    rotateSecretRoute(parts),
    dryRunRoute(parts),
  ]
}

function createRoute(parts: AdminParts): Route {
  const { stores } = parts
  return defineRoute({
    method: 'post',
    path: '/v1/projects/{id}/connections',
    operationId: 'createConnection',
    tag,
    summary: 'Connect a billing account',
    description:
      'Point the provider at `inbound_url`. `signing_secret`, or `username` and `password`, are shown only in this answer, and not in a repeat with the same Idempotency-Key: rotate the secret if it is lost. A subscription connection without `read_key` and `site` is created as `needs_setup`.',
    scope: 'manage',
    body: NewConnection,
    answers: { 201: { description: 'The connection', schema: CreatedConnection, shownOnce: SHOWN_ONCE } },
    refusals: ['egress_blocked'],
    async handle(request) {
      const { body, now } = request
      const project = await findActiveProject(stores, request.principal, request.params.id)
      checkApiBase(parts, body.kind, body.api_base)
      const timeFault = connectedAtRefusal(body.connected_at, project, now)
      if (timeFault !== undefined) throw refusedField('body.connected_at', timeFault)
      const place = { id: request.newId('connection'), projectId: project._id }
      const made = resolveInboundSecret(body.kind, body as Parameters<typeof resolveInboundSecret>[1])
      const document = connectionDocument(
        place.id,
        place.projectId,
        body,
        {
          inbound: sealConnectionSecret(parts.secretBox, made.secret, 'inbound_secret', place, now),
          readKey:
            body.read_key === undefined ? null : sealReadKey(parts.secretBox, body.kind, body.read_key, place, now),
        },
        now,
      )
      await storeNew(request, ({ connections }) => connections, document, 'connection.create')
      const shown = showConnection(document, undefined, parts.ingressPublicUrl, now)
      return versionedAnswer(201, { ...shown, ...made.shown })
    },
  })
}

/** @throws AppError `egress_blocked`, `invalid_request` if the patch does not fit the stored connection */
function prepareConnectionPatch(parts: AdminParts, known: ConnectionDocument, patch: ConnectionPatch, now: Date) {
  checkApiBase(parts, known.kind, patch.api_base)
  const siteFault = siteRefusal(known, patch.site)
  if (siteFault !== undefined) throw refusedField('body.site', siteFault)
  const accountsFault = accountsRefusal(known, patch.accounts)
  if (accountsFault !== undefined) throw refusedField('body.accounts', accountsFault)
  const keyFault = readKeyRefusal(known, patch)
  if (keyFault !== undefined) throw refusedField('body.read_key', keyFault)
  const place = { id: known._id, projectId: known.project_id }
  const readKey =
    typeof patch.read_key === 'string'
      ? sealReadKey(parts.secretBox, known.kind, patch.read_key, place, now)
      : patch.read_key
  return patchedConnection(known, patch, readKey)
}

/** Tells the reconciler that the provider can be read now, so that it processes the notifications that wait for a read key. */
async function sendConnectionReady({ commands }: AdminParts, connection: ConnectionDocument, patch: ConnectionPatch) {
  const mayBeNew = typeof patch.read_key === 'string' || patch.site !== undefined || patch.api_base !== undefined
  if (!mayBeNew || connection.status !== 'active' || connection.read_key === null) return
  const { _id: connection_id, project_id, version, updated_at } = connection
  await commands.send([
    {
      kind: 'connection_ready',
      command_id: deterministicId('command', 'connection_ready', connection_id, String(version)),
      project_id,
      connection_id,
      requested_at: updated_at.toISOString(),
    },
  ])
}

function patchRoute(parts: AdminParts): Route {
  const { stores, ingressPublicUrl } = parts
  return defineRoute({
    method: 'patch',
    path: '/v1/projects/{id}/connections/{connection_id}',
    operationId: 'changeConnection',
    tag,
    summary: 'Change the settings of a connection',
    description:
      'The value of `out_of_band` at the second look applies. A read key (for a subscription, also the site) completes a connection that is `needs_setup`: its held notifications are then verified and judged. A stored read key is never sent to another host: if a new `api_base` or `site` changes the host, give the key again. If-Match is optional.',
    scope: 'manage',
    body: ConnectionPatch,
    answers: { 200: { description: 'The changed connection', schema: Connection } },
    refusals: ['egress_blocked'],
    honoursIfMatch: true,
    async handle(request) {
      const { params, body, now } = request
      // The sweep is read before the change, so that a failed read leaves the connection unchanged.
      const sweep = await stores.sweeps.find({ _id: params.connection_id })
      const next = (known: ConnectionDocument) => prepareConnectionPatch(parts, known, body, now)
      const changed = await changeConnection(request, 'connection.change', next)
      await sendConnectionReady(parts, changed, body)
      return versionedAnswer(200, showConnection(changed, sweep, ingressPublicUrl, now))
    },
  })
}

function deleteRoute(): Route {
  return defineRoute({
    method: 'delete',
    path: '/v1/projects/{id}/connections/{connection_id}',
    operationId: 'deleteConnection',
    tag,
    summary: 'Disconnect a billing account',
    description:
      'Refuses further notifications of the connection, cancels its pending second looks and erases its secrets. About ten minutes later its raw bodies and the personal data of its actions and deliveries are erased; the audit then shows `connection.erase`.',
    scope: 'manage',
    answers: { 204: { description: 'The connection is deleted' } },
    honoursIfMatch: true,
    async handle(request) {
      await changeConnection(request, 'connection.delete', () => deletedConnection(request.now))
      return { status: 204 }
    },
  })
}
