import {
  type DeliveryErasureDocument,
  type ErasureDocument,
  NewPersonErasure,
  PersonErasure,
  type PersonErasureDocument,
} from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { auditedAs } from '../../http/change-document.ts'
import { findInProject, findProject, refuseHeartbeat } from '../../http/find-resource.ts'
import { itemRoute, listRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { showDocument } from '../../rules/show-document.ts'
import type { ReadCollections } from '../../store/stores.ts'

const path = '/v1/projects/{id}/person-erasures'
const tag = 'Person erasures'
/** Each erasure reads all cases and raw notifications of its project twice. */
const MOST_OPEN = 100

/** /v1/projects/{id}/person-erasures */
export function personErasureRoutes({ stores }: AdminParts): Route[] {
  const progress = progressIn(stores)
  return [
    createRoute(stores),
    listRoute({
      path,
      operationId: 'listPersonErasures',
      tag,
      summary: 'List the erasures of customers of a project, newest first',
      items: 'erasures',
      scope: 'admin',
      schema: PersonErasure,
      collection: stores.personErasures,
      sortedBy: 'requested_at',
      narrow: async ({ params, principal }) => ({ project_id: (await findProject(stores, principal, params.id))._id }),
      beside: progress,
      show: (request, _, done) => showPersonErasure(request, done),
    }),
    itemRoute({
      path: `${path}/{erasure_id}`,
      operationId: 'getPersonErasure',
      tag,
      summary: 'Get the progress of the erasure of a customer',
      item: 'erasure',
      scope: 'admin',
      schema: PersonErasure,
      find: ({ params, principal }) =>
        findInProject(stores.personErasures, principal, 'erasure', params.erasure_id, { project_id: params.id }),
      show: async request => showPersonErasure(request, (await progress.findAll({ _id: { in: [request._id] } }))[0]),
    }),
  ]
}

function createRoute(stores: AdminParts['stores']): Route {
  return defineRoute({
    method: 'post',
    path,
    operationId: 'createPersonErasure',
    tag,
    summary: 'Erase the personal data of one customer',
    description:
      'For requests by article 17 of the GDPR. Erases the data of the customer in cases, actions, raw notifications and recorded deliveries of the project, and cannot be undone. Verdicts, incidents and ids stay, and who of the team made a refund. It ends about eleven minutes later; the audit then has the row `person_erasure.finish`. Asking again is safe, and finds what the customer did since (docs/architecture.md#retention).',
    scope: 'admin',
    body: NewPersonErasure,
    answers: {
      202: { description: 'The erasure is requested: read it again for its progress', schema: PersonErasure },
    },
    refusals: ['not_found', 'conflict'],
    async handle({ params, body, principal, newId, now, change }) {
      const { _id: projectId } = await findProject(stores, principal, params.id)
      refuseHeartbeat(projectId)
      await refuseTooMany(stores, projectId)
      const document: PersonErasureDocument = {
        _id: newId('erasure'),
        project_id: projectId,
        person: {
          customer_id: body.customer_id ?? null,
          email: body.email?.toLowerCase() ?? null,
          provider: body.provider ?? null,
        },
        requested_at: now,
      }
      const stored = await change(async ({ personErasures }) => {
        // A repeat of a request whose answer was lost must not store the names again.
        const known = await personErasures.find({ _id: document._id })
        if (known === undefined) await personErasures.put(document)
        return known ?? document
      }, auditedAs('person_erasure.create'))
      return { status: 202, body: showPersonErasure(stored, undefined) }
    },
  })
}

/** @throws AppError `conflict` */
async function refuseTooMany({ personErasures }: AdminParts['stores'], projectId: string): Promise<void> {
  const open = await personErasures.findAll({ project_id: projectId, person: { not: null } })
  if (open.length < MOST_OPEN) return
  throw new AppError('conflict', `${MOST_OPEN} erasures of this project are not done yet: ask again when one is`)
}

/** What the reconciler and the notifier have done about an erasure. */
interface Progress {
  readonly _id: string
  readonly records: ErasureDocument | undefined
  readonly deliveries: DeliveryErasureDocument | undefined
}

function progressIn({ erasures, deliveryErasures }: Pick<ReadCollections, 'erasures' | 'deliveryErasures'>) {
  return {
    async findAll({ _id }: { readonly _id?: unknown }): Promise<Progress[]> {
      const ids = _id as { readonly in: readonly string[] }
      const [records, deliveries] = await Promise.all([
        erasures.findAll({ _id: ids }),
        deliveryErasures.findAll({ _id: ids }),
      ])
      return ids.in.map(id => ({
        _id: id,
        records: records.find(one => one._id === id),
        deliveries: deliveries.find(one => one._id === id),
      }))
    },
  }
}

function showPersonErasure(request: PersonErasureDocument, progress: Progress | undefined): PersonErasure {
  const { records, deliveries } = progress ?? {}
  const finishedAt = finishOf(records, deliveries)
  return showDocument(PersonErasure, request, {
    erasure_id: request._id,
    state: finishedAt !== null ? 'done' : records === undefined ? 'requested' : 'running',
    erased: {
      cases: records?.cases ?? 0,
      actions: records?.actions ?? 0,
      bodies: records?.bodies ?? 0,
      deliveries: deliveries?.deliveries ?? 0,
    },
    finished_at: finishedAt?.toISOString() ?? null,
  })
}

/** When both services had finished; null before. */
export function finishOf(
  records: Pick<ErasureDocument, 'finished_at'> | undefined,
  deliveries: Pick<DeliveryErasureDocument, 'finished_at'> | undefined,
): Date | null {
  if (records?.finished_at == null || deliveries?.finished_at == null) return null
  return new Date(Math.max(records.finished_at.getTime(), deliveries.finished_at.getTime()))
}
