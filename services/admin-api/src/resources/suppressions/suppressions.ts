import {
  deterministicId,
  IdFilter,
  NewSuppression,
  ProjectListQuery,
  Suppression,
  type SuppressionDocument,
  SuppressionReason,
} from '@backstop/contracts'
import { z } from 'zod'
import { listChangedFields } from '../../http/changed-fields.ts'
import { findProject, notFound } from '../../http/find-resource.ts'
import { listRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

const tag = 'Suppressions'

/** Selects the suppressed addresses. An address whose bounces are only counted still gets mail and is not listed. */
const SUPPRESSED = { reason: { in: SuppressionReason.options } } as const
/** How long the route waits for the notifier, which owns the list, in milliseconds. */
const CHANGING_MS = 3_000

/** /v1/suppressions */
export function suppressionRoutes(parts: AdminParts): Route[] {
  return [
    listRoute({
      path: '/v1/suppressions',
      operationId: 'listSuppressions',
      tag,
      summary: 'List suppressed addresses, newest first',
      items: 'addresses',
      query: ProjectListQuery,
      schema: Suppression,
      collection: parts.stores.suppressions,
      sortedBy: 'suppressed_at',
      filter: () => SUPPRESSED,
      show: showSuppression,
    }),
    createRoute(parts),
    deleteRoute(parts),
  ]
}

function createRoute(parts: AdminParts): Route {
  const { stores } = parts
  return defineRoute({
    method: 'post',
    path: '/v1/suppressions',
    operationId: 'createSuppression',
    tag,
    summary: 'Suppress an address: send it no more mail of the project',
    description: 'An address that is already suppressed keeps its first reason.',
    scope: 'manage',
    body: NewSuppression,
    answers: { 201: { description: 'The address', schema: Suppression } },
    refusals: ['not_found'],
    async handle({ body, principal, now, newId, signal }) {
      const { _id: projectId } = await findProject(stores, principal, body.project_id)
      const of = { project_id: projectId, address: body.address.toLowerCase() }
      const wish = {
        reason: 'manual',
        detail: `By ${principal.kind === 'key' ? 'API key' : 'person'} ${principal.id}`,
      } as const
      const request = { command_id: newId('command'), requested_at: now.toISOString(), ...of, ...wish }
      await parts.commands.send([{ kind: 'suppress_address', ...request }])
      const look = () => stores.suppressions.find({ ...of, ...SUPPRESSED })
      const known = await parts.outcomes.waitFor(look, CHANGING_MS, signal)
      const shown: Suppression =
        known === undefined ? { ...of, ...wish, suppressed_at: now.toISOString() } : showSuppression(known)
      const changes = listChangedFields(of.address, undefined, shown)
      const changed = { action: 'suppression.create', target: of.address, projectId, changes }
      return { status: 201, body: shown, changed }
    },
  })
}

function deleteRoute(parts: AdminParts): Route {
  const { stores } = parts
  return defineRoute({
    method: 'delete',
    path: '/v1/suppressions/{address}',
    operationId: 'deleteSuppression',
    tag,
    summary: 'Remove the suppression of an address',
    description:
      'Also deletes the recorded bounces of the address. Get the consent of people who unsubscribed or complained first.',
    scope: 'manage',
    params: z.object({ address: z.string().max(254) }),
    query: z.object({ project_id: IdFilter }),
    answers: { 204: { description: 'The address gets mail again' } },
    async handle({ params, query, principal, now, signal }) {
      const { _id: projectId } = await findProject(stores, principal, query.project_id)
      const of = { project_id: projectId, address: params.address.toLowerCase() }
      const look = () => stores.suppressions.find({ ...of, ...SUPPRESSED })
      const known = await look()
      if (known === undefined) throw notFound('suppressed address', params.address)
      const requested_at = now.toISOString()
      await parts.commands.send([
        {
          kind: 'unsuppress_address',
          command_id: deterministicId('command', 'unsuppress', projectId, of.address, known.updated_at.toISOString()),
          requested_at,
          ...of,
        },
      ])
      await parts.outcomes.waitFor(async () => ((await look()) === undefined ? true : undefined), CHANGING_MS, signal)
      return { status: 204, changed: { action: 'suppression.delete', target: of.address, projectId } }
    },
  })
}

/**
 * A suppressed address as the API shows it. Call it only for documents with a reason: an address whose bounces are only counted is not
 * suppressed.
 */
export function showSuppression(document: SuppressionDocument): Suppression {
  return {
    project_id: document.project_id,
    address: document.address,
    reason: document.reason ?? 'manual',
    detail: document.detail,
    suppressed_at: (document.suppressed_at ?? document.updated_at).toISOString(),
  }
}
