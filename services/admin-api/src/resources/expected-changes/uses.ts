import {
  type ActionDocument,
  ExpectedChangeUse,
  type ExpectedChangeUsesDocument,
  partsOfUsesId,
  usesIdRange,
} from '@backstop/contracts'
import { findInProject } from '../../http/find-resource.ts'
import { pagedRoute } from '../../http/read-routes.ts'
import type { Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { ReadCollection } from '../../store/collection.ts'

type StoredUse = ExpectedChangeUsesDocument['uses'][number]

/** A use, and the document that counts it. */
interface PlacedUse {
  readonly use: StoredUse
  readonly document: Pick<ExpectedChangeUsesDocument, '_id' | 'expires_at'>
}

/** /v1/expected-changes/{id}/uses */
export function usesRoute({ stores }: AdminParts): Route {
  return pagedRoute({
    path: '/v1/expected-changes/{id}/uses',
    operationId: 'listExpectedChangeUses',
    tag: 'Expected changes',
    summary: 'List the changes that an expected change covers, those of the newest period first',
    items: 'covered changes',
    schema: ExpectedChangeUse,
    async page({ params, principal }, { after, limit }) {
      const { _id } = await findInProject(stores.expectedChanges, principal, 'expected change', params.id)
      const uses = await readUses(stores.expectedChangeUses, _id, after?.id, limit)
      const found = await stores.actions.findAll({ _id: { in: uses.map(({ use }) => use.action_id) } })
      const actions = new Map(found.map(action => [action._id, action]))
      return uses.map(placed => ({ ...placed, action: actions.get(placed.use.action_id) }))
    },
    placeOf: ({ use, document }) => ({ at: document.expires_at, id: positionOf(document._id, use) }),
    show: ({ use, document, action }) => showUse(use, document._id, action),
  })
}

function positionOf(usesId: string, { action_id }: StoredUse): string {
  return `${usesId}#${action_id}`
}

/** @param after the position after which the page begins */
async function readUses(
  collection: Pick<ReadCollection<ExpectedChangeUsesDocument>, 'page'>,
  expectedChangeId: string,
  after: string | undefined,
  limit: number,
): Promise<PlacedUse[]> {
  const { min, max } = usesIdRange(expectedChangeId)
  // All documents of an expected change expire at the same time, so they are sorted by their ids: the newest period first.
  const read = async (more: { last: string; after?: { at: Date; id: string } }) => {
    const [document] = await collection.page({
      where: { _id: { min, max: more.last } },
      by: 'expires_at',
      limit: 1,
      after: more.after,
    })
    return document
  }
  const found: PlacedUse[] = []
  let document = await read({ last: after?.split('#')[0] ?? max })
  while (document !== undefined && found.length < limit) {
    const { _id, expires_at, uses } = document
    const rest = uses
      .map(use => ({ use, document: { _id, expires_at } }))
      .filter(({ use }) => after === undefined || !after.startsWith(`${_id}#`) || positionOf(_id, use) > after)
      .sort((a, b) => (a.use.action_id < b.use.action_id ? -1 : 1))
    found.push(...rest.slice(0, limit - found.length))
    document = await read({ last: max, after: { at: expires_at, id: _id } })
  }
  return found
}

function showUse(
  { action_id, amount }: StoredUse,
  usesId: string,
  action: ActionDocument | undefined,
): ExpectedChangeUse {
  return {
    action_id,
    period_start: partsOfUsesId(usesId).firstDay,
    amount,
    currency: action?.currency ?? null,
    subject: action?.subject ?? null,
    provider_ref: action?.provider_ref ?? null,
    provider_created_at: action?.provider_created_at ?? null,
  }
}
