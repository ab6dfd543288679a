import {
  type AuditDocument,
  type DeliveryErasureDocument,
  deterministicId,
  type ErasureDocument,
  ID_PREFIXES,
} from '@backstop/contracts'
import type { AdminCollections } from '../../store/stores.ts'
import { finishOf } from './person-erasures.ts'

/** The erasure of a deleted connection without a row is found for this time after its end, in milliseconds. Longer than any stop of this service. */
const FOUND_FOR_MS = 30 * 86_400_000
const MOST_ROWS = 500

type Stores = Pick<AdminCollections, 'erasures' | 'deliveryErasures' | 'personErasures' | 'audit'>

/**
 * Writes one audit row when the personal data of a deleted connection or of a customer has been erased: who asked for it, and what was
 * erased. The request to erase a customer then loses the names of the customer.
 * @returns the number of new rows
 */
export async function auditErasures(stores: Stores, now: Date): Promise<number> {
  return (await auditConnections(stores, now)) + (await auditPeople(stores, now))
}

async function auditConnections({ erasures, audit }: Stores, now: Date): Promise<number> {
  const from = new Date(now.getTime() - FOUND_FOR_MS)
  const found = await erasures.page({ where: {}, by: 'finished_at', window: { from }, limit: MOST_ROWS })
  const finished = found.filter(erasure => !isOfPerson(erasure))
  const known = new Set((await audit.findAll({ _id: { in: finished.map(rowId) } })).map(({ _id }) => _id))
  let written = 0
  for (const erasure of finished) {
    if (!known.has(rowId(erasure)) && (await insertRow(audit, erasure, undefined, now))) written++
  }
  return written
}

/** Requests are found by the names that they still have, so that a stop between the row and their removal leaves no names. */
async function auditPeople({ erasures, deliveryErasures, personErasures, audit }: Stores, now: Date): Promise<number> {
  const open = { _id: { in: (await personErasures.findAll({ person: { not: null } })).map(({ _id }) => _id) } }
  const inDeliveries = new Map((await deliveryErasures.findAll(open)).map(one => [one._id, one]))
  let written = 0
  for (const erasure of await erasures.findAll(open)) {
    const { _id } = erasure
    if (finishOf(erasure, inDeliveries.get(_id)) === null) continue
    if (await insertRow(audit, erasure, inDeliveries.get(_id), now)) written++
    await personErasures.change({ _id }, { person: null })
  }
  return written
}

/** @returns false if the row exists */
async function insertRow(
  audit: Stores['audit'],
  erasure: ErasureDocument,
  inDeliveries: DeliveryErasureDocument | undefined,
  now: Date,
): Promise<boolean> {
  const action = isOfPerson(erasure) ? 'person_erasure.create' : 'connection.delete'
  const [request] = await audit.findAll({ target: erasure._id, action })
  return audit.insert(rowOf(erasure, inDeliveries, request, now))
}

function isOfPerson({ _id }: ErasureDocument): boolean {
  return _id.startsWith(`${ID_PREFIXES.erasure}_`)
}

function actionOf(erasure: ErasureDocument): string {
  return isOfPerson(erasure) ? 'person_erasure.finish' : 'connection.erase'
}

function rowId(erasure: ErasureDocument): string {
  return deterministicId('audit', actionOf(erasure), erasure._id)
}

/** @param request the row of the request; undefined if it has expired */
function rowOf(
  erasure: ErasureDocument,
  inDeliveries: DeliveryErasureDocument | undefined,
  request: AuditDocument | undefined,
  now: Date,
): AuditDocument {
  const { _id: target, project_id, finished_at, cases, actions, bodies } = erasure
  const ofPerson = { actions: actions ?? 0, deliveries: inDeliveries?.deliveries ?? 0 }
  return {
    _id: rowId(erasure),
    at: finishOf(erasure, inDeliveries) ?? finished_at ?? now,
    key_id: request?.key_id ?? null,
    action: actionOf(erasure),
    target,
    project_id,
    request_id: request?.request_id ?? null,
    address: request?.address ?? null,
    erased: { cases, bodies, ...(isOfPerson(erasure) ? ofPerson : {}) },
    unchained: true,
  }
}
